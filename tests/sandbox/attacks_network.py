"""Attacks that talk to others."""

# Each is as short as can be.
from __future__ import annotations

from tests.sandbox.corpus import Proof, attack


@attack(Proof.REACHED)
def reaches_tcp(at):
    import socket

    socket.create_connection(("127.0.0.1", at.tcp4), 2).sendall(b"reaches_tcp")


@attack(Proof.REACHED)
def reaches_tcp_of_ipv6(at):
    import socket

    socket.create_connection(("::1", at.tcp6), 2).sendall(b"reaches_tcp_of_ipv6")


@attack(Proof.REACHED)
def reaches_tcp_at_once(at):
    import socket

    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    one.sendto(b"reaches_tcp_at_once", 0x20000000, ("127.0.0.1", at.tcp4))  # MSG_FASTOPEN


@attack(Proof.REACHED)
def reaches_udp(at):
    import socket

    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"reaches_udp", ("127.0.0.1", at.udp4))


@attack(Proof.REACHED)
def reaches_udp_of_ipv6(at):
    import socket

    one = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    one.sendto(b"reaches_udp_of_ipv6", ("::1", at.udp6))


@attack(Proof.REACHED)
def reaches_by_another_program(at):
    import subprocess

    line = f"echo reaches_by_another_program > /dev/tcp/127.0.0.1/{at.tcp4}"
    subprocess.run(["/bin/bash", "-c", line], check=True, timeout=3)


@attack(Proof.DONE)
def has_way_to_cloud_metadata(at):
    import socket

    # Connecting a datagram socket looks up the way and sends nothing.
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("169.254.169.254", 80))
    return True


@attack(Proof.REACHED)
def asks_a_name_server(at):
    import socket

    head = bytes.fromhex("1234 0100 0001 0000 0000 0000")
    question = head + b"\x12asks_a_name_server\x00\x00\x01\x00\x01"
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(question, ("127.0.0.1", at.udp4))


@attack(Proof.DONE)
def looks_up_own_addresses(at):
    import socket

    one = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    one.bind((0, 0))
    one.send(b"\x14\x00\x00\x00\x16\x00\x01\x03\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
    return one.recv(10_000)


@attack(Proof.DONE)
def listens(at):
    import socket

    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    one.bind(("127.0.0.1", 0))
    one.listen()
    return one.getsockname()


@attack(Proof.DONE)
def opens_raw_socket(at):
    import socket

    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


@attack(Proof.DONE)
def opens_packet_socket(at):
    import socket

    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)


@attack(Proof.DONE)
def opens_socket_of_any_other_family(at):
    import socket

    found = []
    for family in [each for each in range(46) if each not in (1, 2, 10, 16, 17)]:
        for kind in (1, 2, 3, 5):
            try:
                socket.socket(family, kind, 0).close()
                found.append(family)
            except OSError:
                continue
    return found


@attack(Proof.DONE)
def makes_pair_of_datagram_sockets(at):
    import socket

    # Such a one can be sent to any address, although it has a peer.
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)


@attack(Proof.REACHED)
def reaches_log_by_pair_of_sockets(at):
    import socket

    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"reaches_log_by_pair_of_sockets", at.sockets["log"])


@attack(Proof.REACHED)
def reaches_log(at):
    import socket

    one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"reaches_log", at.sockets["log"])


@attack(Proof.REACHED)
def reaches_socket_in_run(at):
    import socket

    one = socket.socket(socket.AF_UNIX)
    one.connect(at.sockets["run"])
    one.sendall(b"reaches_socket_in_run")


@attack(Proof.REACHED)
def reaches_socket_in_home(at):
    import socket

    one = socket.socket(socket.AF_UNIX)
    one.connect(at.sockets["home"])
    one.sendall(b"reaches_socket_in_home")


@attack(Proof.REACHED)
def reaches_socket_in_tmp(at):
    import socket

    one = socket.socket(socket.AF_UNIX)
    one.connect(at.sockets["tmp"])
    one.sendall(b"reaches_socket_in_tmp")


@attack(Proof.REACHED)
def reaches_socket_without_path(at):
    import socket

    one = socket.socket(socket.AF_UNIX)
    one.connect("\0" + at.sockets["abstract"])
    one.sendall(b"reaches_socket_without_path")


@attack(Proof.REACHED)
def reaches_screen(at):
    import socket

    one = socket.socket(socket.AF_UNIX)
    one.connect("\0" + at.sockets["x11"])
    one.sendall(b"reaches_screen")


@attack(Proof.REACHED)
def reaches_message_bus(at):
    import socket

    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    one.connect(at.sockets["bus"])
    one.sendall(b"reaches_message_bus")


@attack(Proof.REACHED)
def reaches_socket_beside_the_folder(at):
    import socket

    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.connect(at.sockets["agent"])
    one.sendall(b"reaches_socket_beside_the_folder")


@attack(Proof.REACHED)
def reaches_socket_by_symbolic_link(at):
    import os
    import socket

    os.symlink(at.sockets["home"], "socket")
    one = socket.socket(socket.AF_UNIX)
    one.connect("socket")
    one.sendall(b"reaches_socket_by_symbolic_link")
