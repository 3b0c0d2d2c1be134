import DeviceSimulation
import EventLoop
import POSIX
import PushModel

/// The file that gets a JSON line for each device that is done; `-` is the standard output.
///
/// If the file is a pipe and its reader stops reading, the simulator blocks as soon as the pipe is full.
@Loop final class DoneFile {
    private static let standardOutput = "-"

    private let path: String
    private let descriptor: Int32
    private var text: [UInt8] = []

    init(_ path: String) throws(SimulatorError) {
        self.path = path
        guard path != Self.standardOutput else {
            descriptor = STDOUT_FILENO
            return
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SimulatorFile.failure("cannot open \(path)") }
    }

    isolated deinit {
        if descriptor != STDOUT_FILENO { close(descriptor) }
    }

    func append(_ entry: DoneLog.Entry, of fleet: SimulatedFleet) {
        var line = JSONText()
        fleet.write(entry, to: &line)
        text += line.bytes
        text.append(UInt8(ascii: "\n"))
    }

    /// Writes the lines. Ends the process if the file cannot be written: tests rely on a complete file.
    func flush() {
        guard !text.isEmpty else { return }
        guard text.withUnsafeBytes({ SimulatorFile.writeAll($0, to: descriptor) }) else {
            fatalError(SimulatorFile.failure("cannot write \(path)").description)
        }
        text.removeAll(keepingCapacity: true)
    }
}
