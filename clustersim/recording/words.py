"""What a recording's file says before its page does, in each language."""

from typing import Final

WORDS: Final = {
    "en": {
        "skip_stage": "Skip to the stage",
        "noscript": "This recording needs JavaScript: it draws the cluster as it changed.",
    },
    "zh-hans": {
        "skip_stage": "跳到舞台",
        "noscript": "这份录像需要 JavaScript：集群的变化由它画出。",
    },
}
