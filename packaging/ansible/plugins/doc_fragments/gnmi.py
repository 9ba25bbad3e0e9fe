"""Options of the connection, which all modules have."""


class ModuleDocFragment:
    """Read by ansible-doc."""

    DOCUMENTATION = r"""
options:
  host:
    description:
      - Address or name of the router, or the path of srv6-gnmid's socket as C(unix:///path).
    type: str
    required: true
  port:
    description: TCP port of srv6-gnmid.
    type: int
    default: 9339
  username:
    description: User, for passwords; the user of a client certificate comes from the certificate.
    type: str
  password:
    description: Password of the user.
    type: str
  ca:
    description:
      - File with the certificate of the authority that signed the router's. Without it, the
        authorities of gRPC decide.
    type: path
  certificate:
    description: File with the client's certificate.
    type: path
  key:
    description: File with the key of the client's certificate.
    type: path
  server_name:
    description: Name in the router's certificate, where it is not I(host).
    type: str
  timeout:
    description: Seconds for each request. A request that takes longer may still be carried out.
    type: int
    default: 60
requirements:
  - grpcio
  - gnmi-pb
notes:
  - The modules run on the control node. Set C(connection) to C(local) or delegate the task.
"""
