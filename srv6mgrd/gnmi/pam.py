"""Passwords that the system checks: PAM, hence SSSD, RADIUS, TACACS+ and what else it leads to.

libpam is called itself: Debian's bindings set neither the address of a client (PAM_RHOST) nor the
delay of a failure, which would keep a thread for seconds. This module is also a program: modules of
PAM fork, which a process with gRPC's threads and fork handlers does not survive unharmed, and wait
for servers. ``pam_workers`` runs it.
"""

from __future__ import annotations

import ctypes
import json
import logging
import sys
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_uint, c_void_p
from typing import Any, ClassVar

from srv6mgrd.settings import SettingsError

_LOG = logging.getLogger("srv6-gnmid")

# security/_pam_types.h
_SUCCESS, _CONV_ERR, _BUF_ERR = 0, 19, 5
_PROMPT_ECHO_OFF, _PROMPT_ECHO_ON = 1, 2
_TTY, _RHOST, _FAIL_DELAY = 3, 4, 10
_SILENT, _DISALLOW_NULL_AUTHTOK = 0x8000, 0x1


class _Message(ctypes.Structure):
    _fields_: ClassVar = [("style", c_int), ("text", c_char_p)]


class _Response(ctypes.Structure):
    _fields_: ClassVar = [("text", c_void_p), ("code", c_int)]


_CONVERSATION = CFUNCTYPE(
    c_int, c_int, POINTER(POINTER(_Message)), POINTER(POINTER(_Response)), c_void_p
)
_DELAY = CFUNCTYPE(None, c_int, c_uint, c_void_p)


class _Conversation(ctypes.Structure):
    _fields_: ClassVar = [("call", _CONVERSATION), ("data", c_void_p)]


# Delays are Throttle's; a module is not to sleep in our thread.
_NO_DELAY = _DELAY(lambda _status, _microseconds, _data: None)


class Pam:
    """A PAM service."""

    def __init__(self, service: str) -> None:
        """Raises SettingsError when the system has no PAM."""
        try:
            self._pam = ctypes.CDLL("libpam.so.0")
        except OSError as error:
            raise SettingsError(f"pam = {service!r}: {error}; install libpam0g") from None
        self._pam.pam_strerror.restype = c_char_p
        self._libc = ctypes.CDLL(None)
        self._libc.calloc.restype = c_void_p
        self._libc.strdup.restype = c_void_p
        self._service = service.encode()

    def check(self, user: str, password: str, host: str) -> bool:
        """Whether the password is right and the account may be used. Blocks."""
        if "\0" in user or "\0" in password:
            return False
        call = _CONVERSATION(self._answers(user.encode(), password.encode()))
        conversation = _Conversation(call, None)
        handle = c_void_p()
        pam, flags = self._pam, _SILENT | _DISALLOW_NULL_AUTHTOK
        status = pam.pam_start(
            self._service, user.encode(), ctypes.byref(conversation), ctypes.byref(handle)
        )
        if status != _SUCCESS:
            return False
        try:
            pam.pam_set_item(handle, _FAIL_DELAY, ctypes.cast(_NO_DELAY, c_void_p))
            pam.pam_set_item(handle, _TTY, c_char_p(b"srv6-gnmid"))
            if host:
                pam.pam_set_item(handle, _RHOST, c_char_p(host.encode()))
            status = pam.pam_authenticate(handle, flags)
            if status == _SUCCESS:
                status = pam.pam_acct_mgmt(handle, flags)
            if status != _SUCCESS:
                reason = pam.pam_strerror(handle, status)
                _LOG.info("PAM: user %.64r, %s: %s", user, host, reason.decode(errors="replace"))
        finally:
            pam.pam_end(handle, status)
        return bool(status == _SUCCESS)

    def _answers(self, user: bytes, password: bytes) -> Any:
        """What modules ask: the password, and once; a second one would be another factor."""
        left = [password]

        def answer(count: int, messages: Any, responses: Any, _data: Any) -> int:
            made = self._libc.calloc(max(count, 1), ctypes.sizeof(_Response))
            if not made:
                return _BUF_ERR
            array = ctypes.cast(made, POINTER(_Response))
            for n in range(count):
                style = messages[n].contents.style
                if style == _PROMPT_ECHO_OFF and left:
                    array[n].text = self._libc.strdup(left.pop())
                elif style == _PROMPT_ECHO_ON:
                    array[n].text = self._libc.strdup(user)
                elif style == _PROMPT_ECHO_OFF:
                    self._discard(array, count)
                    return _CONV_ERR
            responses[0] = array
            return _SUCCESS

        return answer

    def _discard(self, array: Any, count: int) -> None:
        for n in range(count):
            self._libc.free(c_void_p(array[n].text))
        self._libc.free(array)


def main() -> None:
    """Answer requests, a line of JSON each, until there are no more."""
    # The log of who started us is ours.
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    pam = Pam(sys.argv[1])
    for line in sys.stdin:
        user, password, host = json.loads(line)
        print(int(pam.check(user, password, host)), flush=True)


if __name__ == "__main__":
    main()
