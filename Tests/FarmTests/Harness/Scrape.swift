import FarmHarness
import Foundation

/// A page of metrics that is parsed and checked as a scraper does.
struct Scrape {
    struct Malformed: Error, CustomStringConvertible { let description: String }

    struct Sample {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    let samples: [Sample]
    /// The kind of each metric: counter, gauge or histogram.
    let kinds: [String: String]

    init(_ text: String) throws {
        var (samples, kinds): ([Sample], [String: String]) = ([], [:])
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            if line.hasPrefix("# TYPE ") {
                guard words.count == 4, kinds[words[2]] == nil else {
                    throw Malformed(description: String(line))
                }
                kinds[words[2]] = words[3]
            } else if !line.hasPrefix("#") {
                samples.append(try Self.sample(String(line)))
            }
        }
        (self.samples, self.kinds) = (samples, kinds)
        for sample in samples where kind(of: sample.name) == nil {
            throw Malformed(description: "\(sample.name) has no type")
        }
    }

    /// The sum of the samples with these labels.
    func sum(_ name: String, _ labels: [String: String] = [:]) -> Double {
        samples.filter { sample in
            sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
        }.reduce(0) { $0 + $1.value }
    }

    /// The sum of the samples for each value of a label.
    func sums(_ name: String, by label: String, _ labels: [String: String] = [:]) -> [String: Int] {
        samples.reduce(into: [:]) { sums, sample in
            guard sample.name == name, labels.allSatisfy({ sample.labels[$0.key] == $0.value }) else {
                return
            }
            sums[sample.labels[label] ?? "", default: 0] += Int(sample.value)
        }
    }

    func kind(of name: String) -> String? {
        if let kind = kinds[name] { return kind }
        for ending in ["_bucket", "_sum", "_count"] where name.hasSuffix(ending) {
            if kinds[String(name.dropLast(ending.count))] == "histogram" { return "histogram" }
        }
        return nil
    }

    private static func sample(_ line: String) throws -> Sample {
        guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...])
        else {
            throw Malformed(description: line)
        }
        let head = line[..<space]
        let name = head.prefix { $0 != "{" }
        guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else {
            throw Malformed(description: line)
        }
        var labels: [String: String] = [:]
        let rest = head.dropFirst(name.count)
        if !rest.isEmpty {
            guard rest.hasPrefix("{"), rest.hasSuffix("}") else { throw Malformed(description: line) }
            for pair in rest.dropFirst().dropLast().split(separator: ",") {
                let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2, parts[1].hasPrefix("\""), parts[1].hasSuffix("\"") else {
                    throw Malformed(description: line)
                }
                labels[parts[0]] = String(parts[1].dropFirst().dropLast())
            }
        }
        return Sample(name: String(name), labels: labels, value: value)
    }
}

/// The response of a metrics page.
struct HTTPReply {
    let status: Int
    let head: String
    let body: String

    /// Sends one GET request over a Unix socket.
    static func get(_ path: String, at socket: String, method: String = "GET") throws -> HTTPReply {
        try send("\(method) \(path) HTTP/1.1\r\nHost: test\r\n\r\n", at: socket)
    }

    static func send(_ request: String, at socket: String) throws -> HTTPReply {
        let connection = try UnixSocket(socket)
        try connection.send(Array(request.utf8))
        var bytes: [UInt8] = []
        while let more = try? connection.receive() { bytes += more }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n"), let status = Int(text.split(separator: " ")[1]) else {
            throw Scrape.Malformed(description: text)
        }
        return HTTPReply(
            status: status, head: String(text[..<end.lowerBound]), body: String(text[end.upperBound...]))
    }
}

extension Farm {
    var metricsSocket: String { folder.path + "/metrics.sock" }

    func scrape() throws -> Scrape {
        let reply = try HTTPReply.get("/metrics", at: metricsSocket)
        guard reply.status == 200 else { throw Scrape.Malformed(description: reply.head) }
        return try Scrape(reply.body)
    }
}
