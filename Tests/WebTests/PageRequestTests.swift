import Testing

@testable import Web

struct PageRequestTests {
    @Test(arguments: [
        ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/metrics"),
        ("GET /metrics?x=1 HTTP/1.0\n\n", "GET", "/metrics"),
        ("POST / HTTP/1.1\r\n\r\nbody", "POST", "/"),
    ])
    func `a complete head is read`(text: String, method: String, path: String) {
        #expect(
            PageRequest.read(Array(text.utf8)) == .whole(PageRequest(method: method, path: path)))
    }

    @Test func `each part of a head is incomplete`() {
        let head = Array("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        for count in head.indices { #expect(PageRequest.read(head[..<count]) == .incomplete) }
    }

    @Test(arguments: [
        "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / FTP/1.1\r\n\r\n",
        "GET /\u{1} HTTP/1.1\r\n\r\n",
    ])
    func `an invalid request is refused`(text: String) {
        #expect(PageRequest.read(Array(text.utf8)) == .bad(400))
    }

    @Test func `an endless head is refused when it is too long`() {
        let long = Array("GET / HTTP/1.1\r\nX: ".utf8) + Array(repeating: UInt8(ascii: "x"), count: 9000)
        #expect(PageRequest.read(long) == .bad(431))
        #expect(PageRequest.read(long + Array("\r\n\r\n".utf8)) == .bad(431))
    }
}
