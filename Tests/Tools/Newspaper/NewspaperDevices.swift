import FarmHarness
import Foundation

/// The subscribers' devices. A device's token contains the number in the device's id, so that the publisher finds the id of a
/// token that reports an edition as done.
enum NewspaperDevices {
    static func id(_ number: Int) -> String { "d-\(number)" }

    /// The hexadecimal token of a device, 32 bytes.
    static func token(_ number: Int) -> String {
        String(format: "%016lx", number) + String(repeating: "5a", count: 24)
    }

    /// The number of the device with a token; nil if the token is not of the form that ``token(_:)`` makes.
    static func number(ofToken token: some StringProtocol) -> Int? { Int(token.prefix(16), radix: 16) }

    /// Writes a file for `pushfarm devices import`.
    static func write(_ count: Int, to file: String) throws {
        guard FileManager.default.createFile(atPath: file, contents: nil) else {
            throw Overdue(description: "cannot write \(file)")
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        defer { try? handle.close() }
        for start in stride(from: 0, to: count, by: 10_000) {
            let lines = (start..<min(start + 10_000, count)).map { number in
                #"{"id":"\#(id(number))","token":"\#(token(number))","platform":"ios","zone":"Europe/Berlin"}"#
                    + "\n"
            }
            try handle.write(contentsOf: Data(lines.joined().utf8))
        }
    }
}
