import Testing

@testable import Web

struct AnswerStatusTests {
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n\r\n", AnswerStatus.status(200)),
        ("HTTP/1.1 204\r\n\r\n", .status(204)),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 No\r\nA: b\r\n\r\n", .status(503)),
        ("HTTP/1.1 100 Continue\r\n\r\n", .incomplete), ("HTTP/1.1 200 OK\r\n", .incomplete),
        ("", .incomplete),
        ("220 mail.example\r\n\r\n", .bad), ("HTTP/1.1 99 x\r\n\r\n", .bad), ("HTTP/1.1 abc x\r\n\r\n", .bad),
    ])
    func `the status is that of the final answer`(text: String, status: AnswerStatus) {
        #expect(AnswerStatus.read(Array(text.utf8)) == status)
    }
}
