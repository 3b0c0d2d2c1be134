import Foundation

/// Receives webhooks over plain HTTP on its own port, and responds as configured.
final class WebhookReceiver: Sendable {
    enum Response {
        case status(Int)
        /// The receiver sends no response and keeps the connection open.
        case nothing
    }

    let port: UInt16
    private let inbox: Inbox
    private let serving: Task<Void, Never>

    /// - Parameter responses: the responses to the first requests. All later requests get 200.
    init(_ responses: [Response] = []) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard bound == 0, listen(descriptor, 16) == 0 else { throw CocoaError(.fileReadUnknown) }
        var length = size
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        port = UInt16(bigEndian: address.sin_port)
        let inbox = Inbox(descriptor, responses)
        self.inbox = inbox
        serving = Task { await inbox.serve() }
    }

    deinit { serving.cancel() }

    /// The complete requests so far: first line and body.
    var requests: [(line: String, body: [String: Any])] {
        get async {
            await inbox.requests.map { line, body in
                (line, (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:])
            }
        }
    }

    private actor Inbox {
        private let descriptor: Int32
        private var responses: [Response]
        private(set) var requests: [(line: String, body: String)] = []
        private var open: [Int32: [UInt8]] = [:]
        private var silent: [Int32] = []

        init(_ descriptor: Int32, _ responses: [Response]) {
            (self.descriptor, self.responses) = (descriptor, responses)
        }

        func serve() async {
            while !Task.isCancelled {
                let client = accept(descriptor, nil, nil)
                if client >= 0 {
                    // Without this flag, a process that another test starts at this time would inherit the connection and keep it
                    // open.
                    _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                    _ = fcntl(client, F_SETFL, O_NONBLOCK)
                    open[client] = []
                }
                for client in open.keys { read(from: client) }
                try? await Task.sleep(for: .milliseconds(5))
            }
            for client in Array(open.keys) + silent + [descriptor] { close(client) }
        }

        private func read(from client: Int32) {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            let count = Foundation.read(client, &buffer, buffer.count)
            if count == 0 || count < 0 && errno != EAGAIN {
                open[client] = nil
                close(client)
                return
            }
            guard count > 0 else { return }
            open[client]! += buffer[..<count]
            let text = String(decoding: open[client]!, as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n"),
                let length = text.firstMatch(of: /Content-Length: (\d+)/).flatMap({ Int($0.1) }),
                text[end.upperBound...].utf8.count >= length
            else { return }
            requests.append((String(text.prefix { !$0.isNewline }), String(text[end.upperBound...])))
            open[client] = nil
            switch responses.isEmpty ? .status(200) : responses.removeFirst() {
            case .nothing: silent.append(client)
            case .status(let status):
                let response = "HTTP/1.1 \(status) x\r\nContent-Length: 0\r\n\r\n"
                _ = Array(response.utf8).withUnsafeBytes {
                    send(client, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL))
                }
                close(client)
            }
        }
    }
}
