"""What objects count for in ResourceQuotas: shared by the admission that charges and the controller that recounts."""
