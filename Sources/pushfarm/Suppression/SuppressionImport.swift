import EventLoop
import FarmLogging
import PushModel

/// Suppresses the tokens of text lines, in portions.
@Loop struct SuppressionImport {
    private var store: SuppressionStore
    private let defaults: SuppressionLine.Defaults
    private let isQuiet: Bool
    /// Whether only the first word of each line is read.
    private let takesTokensOnly: Bool
    private var waiting: [SuppressionLine] = []
    private var report = Report()

    /// The most faulty lines to name. Further faulty lines are only counted.
    private static let named = 20

    /// The result of the import.
    struct Report: Sendable {
        var written = 0
        var faulty = 0
        var faults: [(source: String, reason: String)] = []
    }

    init(
        store: SuppressionStore, defaults: SuppressionLine.Defaults, isQuiet: Bool,
        takesTokensOnly: Bool = false
    ) {
        (self.store, self.defaults, self.isQuiet) = (store, defaults, isQuiet)
        self.takesTokensOnly = takesTokensOnly
    }

    /// Takes a line of a file, or a token of the command line.
    mutating func take(_ text: Substring, source: String? = nil) async throws(CommandFailure) {
        do {
            let words =
                takesTokensOnly ? text.trimmed.prefix { !$0.isWhitespace } : text
            waiting.append(try SuppressionLine(words, defaults))
        } catch {
            report.faulty += 1
            if report.faults.count < Self.named {
                report.faults.append((source ?? String(text.prefix(64)), "\(error)"))
            }
            return
        }
        if waiting.count >= SuppressionStore.portion { try await write() }
    }

    mutating func take(file: String) async throws(CommandFailure) {
        var lines = try TextLines(file)
        var progress = ProgressLine("reading bytes", total: lines.byteCount ?? 0, quiet: isQuiet)
        defer { progress.finish() }
        var number = 0
        while let line = try lines.next() {
            number += 1
            if number.isMultiple(of: 10_000) {
                progress.update(
                    lines.bytesRead, note: "\(Figures.grouped(report.written)) tokens")
            }
            if !SuppressionLine.isEmpty(line) { try await take(line, source: "line \(number)") }
        }
    }

    mutating func finish() async throws(CommandFailure) -> Report {
        try await write()
        return report
    }

    private mutating func write() async throws(CommandFailure) {
        try await store.write(waiting)
        report.written += waiting.count
        waiting.removeAll(keepingCapacity: true)
    }
}

extension SuppressionImport.Report {
    /// - Throws: status 1 when a line was faulty, after the report is printed.
    func show(_ console: Console, _ verb: String) throws(CommandFailure) {
        console.show(
            .object([
                verb: .number(written), "faulty": .number(faulty),
                "faults": .array(
                    faults.map { .object(["place": .string($0.source), "reason": .string($0.reason)]) }),
            ]), "\(Figures.grouped(written)) tokens \(verb)\n")
        guard faulty > 0 else { return }
        for fault in faults {
            Terminal.write("\(fault.source): \(fault.reason)\n", to: Terminal.standardError)
        }
        throw .failed(
            "\(Figures.grouped(faulty)) lines cannot be read"
                + (faulty > faults.count ? "; these are the first \(faults.count)" : ""))
    }
}
