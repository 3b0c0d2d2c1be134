import EventLoop
import Foundation

/// `binary-load [program=FILE] [frames=N] [connections=N] [ledger=FILE] [core=N]` measures how many frames the simulator's binary
/// interface reads in a second, and in a second of processor time.
@main
enum Main {
    static func main() throws {
        var words: [String: String] = [:]
        for argument in CommandLine.arguments.dropFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            words[parts[0]] = parts.count > 1 ? parts[1] : ""
        }
        let folder = NSTemporaryDirectory() + "binary-load-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let gateway = try SimulatorProcess(
            program: words["program"] ?? ".build/release/pushfarm", folder: folder, ledger: words["ledger"],
            core: words["core"])
        defer { gateway.stop() }
        let connections = words["connections"].flatMap { Int($0) } ?? 4
        let frames = (words["frames"].flatMap { Int($0) } ?? 3_000_000) / connections
        let before = gateway.processorSeconds
        let start = ContinuousClock.now
        let bytes = try Loop.run { @Loop in
            let senders = try await (0..<connections).asyncMap { _ in
                try await PreparedSender.connect(to: gateway)
            }
            for sender in senders { sender.start(frames: frames) }
            for sender in senders { try await sender.proof() }
            return senders[0].bytesPerFrame
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let processor = gateway.processorSeconds - before
        let count = Double(frames * connections)
        print(
            String(
                format:
                    "%.0f frames of %d bytes on %d connections: %.2f s, %.0f/s; %.2f s of the processor, %.0f/s",
                count, bytes, connections, seconds, count / seconds, processor, count / processor))
    }
}

extension Sequence {
    @Loop fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows
        -> [Value]
    {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
