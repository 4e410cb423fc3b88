"""Earlier schedulers as eras: the algorithm provider with its predicates and priorities, and the round robin before."""
