import FarmHarness
import Foundation
import Testing

/// A run of `pushfarm screen` on a farm: its files and expectations about them.
struct Screening {
    /// The output of `pushfarm screen --json`. Decoding fails if a field is missing.
    struct Summary: Decodable, Equatable {
        struct Malformed: Decodable, Equatable {
            var line: Int
            var reason: String
        }

        var app: String
        var state: String
        var submitted: Int
        var good: Int
        var invalid: Int
        var rest: Int
        var duplicates: Int
        var malformed: Int
        var open: Int
        var suppressedBefore: Int
        var invalidReasons: [String: Int]
        var restReasons: [String: Int]
        var malformedLines: [Malformed]
        var goodFile: String
        var invalidFile: String
        var restFile: String

        init(json: String) throws {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            self = try decoder.decode(Summary.self, from: Data(json.utf8))
        }

        var addsUp: Bool {
            submitted == good + invalid + rest + duplicates + malformed + open
                && invalid == invalidReasons.values.reduce(0, +) && rest == restReasons.values.reduce(0, +)
        }
    }

    let farm: Farm
    let file: String

    init(_ farm: Farm, _ lines: [String]) throws {
        self.farm = farm
        file = try farm.folder.write(lines.map { $0 + "\n" }.joined(), to: "list.txt")
    }

    private func arguments(_ more: [String]) -> [String] {
        ["screen", "--tokens-file", file, "--json", "--config", farm.folder.path + "/pushfarm.yaml"] + more
    }

    /// Runs `pushfarm screen` until it ends.
    func run(
        _ more: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (status: Int32, jobRecord: Summary) {
        let result = try await farm.run(arguments(more))
        guard !result.output.isEmpty else { throw Overdue(description: "screen: \(result)") }
        let jobRecord = try Summary(json: result.output)
        #expect(jobRecord.addsUp, "\(jobRecord)", sourceLocation: sourceLocation)
        return (result.status, jobRecord)
    }

    /// Starts `pushfarm screen`.
    func start(_ name: String, _ more: String...) throws -> Child {
        try Child(name, BuiltProgram.path, arguments(more), in: farm.folder.path)
    }

    /// The words of each line of an output file.
    func lines(_ name: String) -> [[String]] {
        let text = (try? String(contentsOfFile: file + "." + name, encoding: .utf8)) ?? "no file"
        return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    /// The sorted tokens of an output file.
    func tokens(_ name: String) -> [String] { lines(name).compactMap(\.first).sorted() }

    /// Expects that each of these tokens is in exactly one of the output files, and only once.
    func expectWhole(_ tokens: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        let all = self.tokens("good") + self.tokens("invalid") + self.tokens("rest")
        #expect(all.sorted() == tokens.sorted(), sourceLocation: sourceLocation)
    }

    /// Expects that the gateway got one push to each of these tokens, and no push to another token.
    func expectOnceAtTheGateway(
        _ tokens: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let requests = try farm.gateway.ledger().requests
        #expect(requests.keys.sorted() == tokens.sorted(), sourceLocation: sourceLocation)
        #expect(requests.values.allSatisfy { $0 == 1 }, sourceLocation: sourceLocation)
    }
}
