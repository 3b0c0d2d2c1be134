import PushModel

/// The jobs of a demo. Each job has a thousand pushes, and the last job may have fewer. The bad tokens are spread
/// evenly over all pushes.
struct DemoLoad: Sendable {
    let pushes: Int
    let bad: Int

    static let jobSize = 1000

    var jobs: Int { (pushes + Self.jobSize - 1) / Self.jobSize }

    /// The id of a job. Jobs are numbered from 0.
    func id(of job: Int) -> String { "demo-\(job + 1)" }

    /// The text of a job. Jobs are numbered from 0.
    func text(of job: Int) -> [UInt8] {
        let first = job * Self.jobSize
        let last = min(first + Self.jobSize, pushes)
        var text: [UInt8] = []
        text.reserveCapacity((last - first) * 67 + 128)
        text += Array("{\"id\":\"\(id(of: job))\",\"tokens\":[".utf8)
        for number in first..<last {
            if number > first { text.append(UInt8(ascii: ",")) }
            text.append(UInt8(ascii: "\""))
            append(token: number, to: &text)
            text.append(UInt8(ascii: "\""))
        }
        text += Array(
            "],\"payload\":{\"aps\":{\"alert\":{\"title\":\"Pushfarm\",\"body\":\"Demo \(job + 1)\"}}}}".utf8)
        return text
    }

    /// Whether the push with this number goes to a token that the simulator treats as invalid.
    func isBad(_ number: Int) -> Bool {
        pushes > 0 && (number + 1) * bad / pushes > number * bad / pushes
    }

    /// Appends the token of the push with this number: 64 hex digits. No two numbers have the same token. Bad tokens,
    /// and only these, start with the prefix that the simulator treats as invalid.
    func append(token number: Int, to text: inout [UInt8]) {
        if isBad(number) {
            text += Array("bad00000".utf8)
        } else {
            text += Array("a0".utf8)
            Self.append(SeededRandom.number(at: UInt64(number)), digits: 6, to: &text)
        }
        for part in 1...3 {
            Self.append(SeededRandom.number(at: UInt64(number) &* 4 &+ UInt64(part)), digits: 16, to: &text)
        }
        Self.append(UInt64(number), digits: 8, to: &text)
    }

    private static func append(_ value: UInt64, digits: Int, to text: inout [UInt8]) {
        for place in stride(from: (digits - 1) * 4, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(place)) & 15
            text.append(digit < 10 ? 48 + digit : 87 + digit)
        }
    }
}
