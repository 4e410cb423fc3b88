"""What the volume plugins share: claims and volumes as they lie in the listers, matching, in-tree migration."""
