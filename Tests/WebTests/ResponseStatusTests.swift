import Testing

@testable import Web

struct ResponseStatusTests {
    private static let interim = "HTTP/1.1 100 Continue\r\n\r\n"

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\n\r\n", .status(200)),
            ("HTTP/1.1 204\r\n\r\n", .status(204)),
            ("HTTP/1.1 200 OK\n\nHTTP/1.1 500 No\n\n", .status(200)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", .status(200)),
            (interim + "HTTP/1.1 503 No\r\nA: b\r\n\r\n", .status(503)),
            (
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + interim + "HTTP/1.1 200 OK\r\n\r\n",
                .status(200)
            ),
            (String(repeating: interim, count: 8) + "HTTP/1.1 200 OK\r\n\r\n", .status(200)),
            (String(repeating: interim, count: 9) + "HTTP/1.1 200 OK\r\n\r\n", .bad),
            (interim, .incomplete), ("HTTP/1.1 200 OK\r\n", .incomplete), ("", .incomplete),
            ("220 mail.example\r\n\r\n", .bad), ("HTTP/1.1 99 x\r\n\r\n", .bad),
            ("HTTP/1.1 abc x\r\n\r\n", .bad),
            ("HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 8 << 10), .bad),
            (String(repeating: "x", count: 8 << 10), .bad), ("\r\n\r\n", .bad),
        ] as [(String, ResponseStatus.Progress)])
    func `the status is that of the final response in any pieces`(
        text: String, status: ResponseStatus.Progress
    ) {
        var whole = ResponseStatus()
        #expect(whole.read(Array(text.utf8)) == status)
        var pieces = ResponseStatus()
        var last = ResponseStatus.Progress.incomplete
        for byte in text.utf8 { last = pieces.read([byte]) }
        #expect(last == status)
    }
}
