"""Real time: workers that own sessions and run their clusters, and the supervisor that keeps everything alive."""
