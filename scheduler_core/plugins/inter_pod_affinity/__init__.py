"""InterPodAffinity: pods near or away from other pods, by what they demand or prefer."""
