import FarmHarness
import Foundation

/// Single urgent pushes, one after the other, with the time of each push from its RPUSH to its arrival at the
/// gateway.
struct Samples {
    /// The first digits of the samples' tokens. No other token of the bench begins with these digits.
    private static let mark = "5a"

    private let count: Int
    private let rest: ClosedRange<Int>

    /// - Parameter rest: the shortest and the longest delay between two pushes, in microseconds. Delays are random, so that the
    ///   pushes arrive in all states of the farm.
    init(_ count: Int, rest: ClosedRange<Int>) { (self.count, self.rest) = (count, rest) }

    /// Pushes all samples.
    ///
    /// - Returns: the time of each push in microseconds since 1970, by token.
    func push(to farm: BenchFarm) async throws -> [String: Int64] {
        let payload = String(decoding: BenchPayload.bytes, as: UTF8.self)
        var moments: [String: Int64] = [:]
        for place in 0..<count {
            let token = Self.mark + BenchTokens.text(place).dropFirst(2)
            let job = #"{"id":"s-\#(place)","tokens":["\#(token)"],"payload":\#(payload),"lane":"high"}"#
            moments[token] = Self.now
            try farm.client.run("RPUSH", "pushfarm:demo", job)
            try await Task.sleep(for: .microseconds(Int.random(in: rest)))
        }
        return moments
    }

    var ids: [String] { (0..<count).map { "s-\($0)" } }

    private struct Line: Decodable {
        var token: String
        var moment: Int64

        private enum CodingKeys: String, CodingKey {
            case token
            case moment = "time_us"
        }
    }

    /// The latencies in milliseconds, from the gateway's ledger.
    static func latencies(_ moments: [String: Int64], _ gateway: Gateway, in folder: String) async throws
        -> [Double]
    {
        let search = try Child(
            "samples", "grep", ["-F", "\"token\":\"\(mark)", gateway.ledgerFile], in: folder)
        _ = try await search.wait()
        let decoder = JSONDecoder()
        return try search.output.split(separator: "\n").compactMap { text in
            let line = try decoder.decode(Line.self, from: Data(text.utf8))
            return moments[line.token].map { Double(line.moment - $0) / 1_000 }
        }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
