"""Wrong rules: common misconceptions, each a small decider over what the engine decides on too."""
