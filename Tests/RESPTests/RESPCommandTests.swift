import Testing

@testable import RedisProtocol

@Suite struct RESPCommandTests {
    private func wire(_ command: RESPCommand) -> String {
        var output: [UInt8] = []
        command.write(into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func `writes an array of bulk strings`() {
        #expect(wire(RESPCommand("GET", "k")) == "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n")
    }

    @Test func `is binary safe`() {
        var command = RESPCommand("SET")
        command.append([13, 10, 0] as [UInt8])
        command.append("")
        #expect(wire(command) == "*3\r\n$3\r\nSET\r\n$3\r\n\r\n\u{0}\r\n$0\r\n\r\n")
    }

    @Test(arguments: [
        (Int64(0), "$1\r\n0\r\n"), (9, "$1\r\n9\r\n"), (10, "$2\r\n10\r\n"), (-1, "$2\r\n-1\r\n"),
        (-100, "$4\r\n-100\r\n"), (.max, "$19\r\n9223372036854775807\r\n"),
        (.min, "$20\r\n-9223372036854775808\r\n"),
    ])
    func `writes numbers`(value: Int64, bulk: String) {
        var command = RESPCommand()
        command.append(value)
        #expect(wire(command) == "*1\r\n" + bulk)
    }
}
