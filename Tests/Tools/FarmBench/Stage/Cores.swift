import FarmHarness
import Foundation

/// The cores that all processes of a bench run on.
package struct Cores: Sendable {
    /// The number of cores.
    private static let count = 2

    package let numbers: [Int]

    /// Chooses the last cores that this process may use. The first core often handles interrupts.
    package init() {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
        numbers = Self.last(of: String(line?.split(whereSeparator: \.isWhitespace).last ?? "0"))
    }

    package init(_ numbers: [Int]) { self.numbers = numbers }

    /// - Parameter list: cores in the kernel's form, such as "0-2,5".
    package static func last(of list: String) -> [Int] {
        let all = list.split(separator: ",").flatMap { part -> [Int] in
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return [] }
            return Array(first...last)
        }
        return all.suffix(count)
    }

    package var list: String { numbers.map(String.init).joined(separator: ",") }

    /// Binds this process and all its later children to the cores.
    package func keep() async throws {
        let folder = try TestFolder()
        let command = try Child(
            "taskset", "taskset", ["-a", "-p", "-c", list, "\(getpid())"], in: folder.path)
        guard try await command.wait() == .exited(0) else {
            throw Overdue(description: "taskset: \(command.error)")
        }
    }
}
