"""FRRouting: all of its text and sockets stay in this room."""
