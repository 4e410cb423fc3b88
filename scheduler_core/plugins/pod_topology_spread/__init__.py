"""PodTopologySpread: pods of one kind spread evenly over zones, hosts or any other label of nodes."""
