"""HTTP extenders: webhooks that filter, score, veto preemption and bind beside the plugins, as upstream calls them.

Pure: a call is an Ask that the cycle yields; whoever drives the cycle carries it out.
"""
