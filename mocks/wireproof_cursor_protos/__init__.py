"""The messages of the Cursor agent protocol, as the mock of its service and the proxy's backend exchange them.

`agent.proto` and `aiserver.proto` are the source: names, numbers and types as public implementations document them.
`agent_pb2` and `aiserver_pb2` are compiled from them and never edited; from the folder above, with grpcio-tools 1.74
(its code runs on protobuf 6.31 up to the end of protobuf 7):

    python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. wireproof_cursor_protos/*.proto

The mock and the proxy share this package and nothing else: it says what can be sent, not what is asked in a test.
"""

from wireproof_cursor_protos import agent_pb2, aiserver_pb2

__all__ = ["agent_pb2", "aiserver_pb2"]
