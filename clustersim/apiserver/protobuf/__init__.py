"""Kubernetes' protobuf in and out, by field tables: typed clients send it and ask for it before JSON.

Which number and form a field has is told by `fields.txt`. What is in no table is refused when it comes in (415), and
answered as JSON when it would go out: custom resources have no protobuf upstream either.
"""

from __future__ import annotations

from clustersim.apiserver.protobuf.decoding import decode as decode
from clustersim.apiserver.protobuf.encoding import encode as encode
from clustersim.apiserver.protobuf.encoding import encode_json as encode_json
from clustersim.apiserver.protobuf.encoding import encode_list as encode_list
from clustersim.apiserver.protobuf.encoding import watch_frame as watch_frame
from clustersim.apiserver.protobuf.encoding import watch_frames as watch_frames
from clustersim.apiserver.protobuf.fields import MAGIC as MAGIC
from clustersim.apiserver.protobuf.fields import is_known as is_known
