import COpenSSL

@testable import OpenSSL

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The client and the server of one TLS connection. One thread runs the steps of both sides in turn.
final class Link {
    let client: TLSSession
    let server: TLSSession
    private let clientSocket: Int32
    private var serverSocket: Int32

    init(
        client: TLSContext, server: TLSContext, serverName: String = "localhost",
        sockets: (Int32, Int32) = socketPair()
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        (clientSocket, serverSocket) = sockets
        self.client = try TLSSession(client: client, socket: clientSocket, serverName: serverName)
        self.server = try TLSSession(server: server, socket: serverSocket)
    }

    /// Runs the steps of the handshake on both sides in turn.
    /// After a failure of one side, the other side continues, so that it reads the failed side's alert.
    func handshake() -> Handshake {
        var result = Handshake()
        for _ in 0..<20 {
            step(client, &result.client)
            step(server, &result.server)
        }
        return result
    }

    private func step(_ session: borrowing TLSSession, _ state: inout Result<TLSProgress, TLSError>) {
        guard case .success(let progress) = state, progress != .done else { return }
        do throws(TLSError) { state = .success(try session.handshake()) } catch { state = .failure(error) }
    }

    /// Ends the connection without a TLS shutdown, like a crash of the peer.
    func cutServer() { shutdown(serverSocket, Int32(SHUT_RDWR)) }

    /// Closes the server's socket. TCP replies to later writes of the client with a reset.
    func closeServer() {
        close(serverSocket)
        serverSocket = -1
    }

    deinit {
        close(clientSocket)
        if serverSocket >= 0 { close(serverSocket) }
    }
}

struct Handshake {
    var client: Result<TLSProgress, TLSError> = .success(.wantRead)
    var server: Result<TLSProgress, TLSError> = .success(.wantRead)

    var isDone: Bool { client == .success(.done) && server == .success(.done) }
    var clientError: TLSError? { if case .failure(let error) = client { error } else { nil } }
    var serverError: TLSError? { if case .failure(let error) = server { error } else { nil } }
}

/// Creates two connected, nonblocking sockets.
func socketPair() -> (Int32, Int32) {
    var pair: [Int32] = [0, 0]
    #if canImport(Darwin)
        let kind = SOCK_STREAM
    #else
        let kind = Int32(SOCK_STREAM.rawValue)
    #endif
    precondition(socketpair(AF_UNIX, kind, 0, &pair) == 0)
    for socket in pair { precondition(fcntl(socket, F_SETFL, O_NONBLOCK) == 0) }
    return (pair[0], pair[1])
}

/// Creates two connected, nonblocking TCP sockets on the loopback interface.
func tcpPair() -> (Int32, Int32) {
    #if canImport(Darwin)
        let kind = SOCK_STREAM
    #else
        let kind = Int32(SOCK_STREAM.rawValue)
    #endif
    let listener = socket(AF_INET, kind, 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let client = socket(AF_INET, kind, 0)
    withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            precondition(bind(listener, address, length) == 0 && listen(listener, 1) == 0)
            precondition(getsockname(listener, address, &length) == 0)
            precondition(connect(client, address, length) == 0)
        }
    }
    let server = accept(listener, nil, nil)
    for socket in [client, server] { precondition(fcntl(socket, F_SETFL, O_NONBLOCK) == 0) }
    return (client, server)
}

extension TLSSession {
    /// Writes a text that fits into the socket.
    borrowing func send(_ text: String) throws -> TLSTransfer {
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBytes { try write($0) }
    }

    /// Reads once with a large buffer.
    borrowing func receive() throws -> Received {
        var room = [UInt8](repeating: 0, count: 1 << 16)
        let transfer = try room.withUnsafeMutableBytes { try read(into: $0) }
        guard case .bytes(let count) = transfer else { return .nothing(transfer) }
        return .text(String(decoding: room.prefix(count), as: UTF8.self))
    }
}

enum Received: Equatable {
    case text(String)
    case nothing(TLSTransfer)
}

func writeAll(_ bytes: UnsafeRawBufferPointer, to socket: Int32) -> Bool {
    write(socket, bytes.baseAddress, bytes.count) == bytes.count
}

extension TLSSession {
    /// The name of the cipher, such as "TLS_AES_256_GCM_SHA384".
    var cipher: String { String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))) }

    /// The server name that the client requested by SNI.
    var requestedServerName: String? {
        SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
    }
}
