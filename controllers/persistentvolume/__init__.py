"""The life of claims and volumes: binding, making and reclaiming volumes, and what keeps both from going too early."""
