package import EventLoop
package import FarmHarness
package import Foundation

/// One host of the farm: a coordinator and its processes, in a process group.
@Loop package final class Host {
    package let name: String
    private let folder: String
    private let environment: [String: String]
    /// Arguments of the shell's `ulimit` for the coordinator, such as `-n 64`.
    private let limit: String?
    private(set) var coordinator: Child
    /// Process groups of earlier coordinators. Workers of these coordinators may still live.
    private(set) var former: [Child] = []

    init(_ name: String, folder: String, environment: [String: String], limit: String?) throws {
        (self.name, self.folder, self.environment, self.limit) = (name, folder, environment, limit)
        coordinator = try Self.start(name, folder, environment, limit)
    }

    private static func start(
        _ name: String, _ folder: String, _ environment: [String: String], _ limit: String?
    ) throws -> Child {
        let words = [BuiltProgram.path, "coordinator", "--config", "\(folder)/\(name).yaml"]
        var variables = environment
        // The backtrace of an injected crash takes seconds and is useless.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        guard let limit else {
            return try Child(
                name, words[0], Array(words.dropFirst()), environment: variables, in: folder)
        }
        return try Child(
            name, "/bin/sh", ["-c", "ulimit \(limit); exec \"$@\"", "sh"] + words, environment: variables,
            in: folder)
    }

    /// Starts the coordinator again after it has ended.
    package func restart() throws {
        former.append(coordinator)
        coordinator = try Self.start(name, folder, environment, limit)
    }

    package enum Role: String {
        case worker, intake
        /// A successor, which another coordinator started in an upgrade.
        case coordinator
    }

    /// The living coordinators of the host. There are two during an upgrade.
    var leaders: [pid_t] {
        (coordinator.hasEnded ? [] : [coordinator.pid]) + pids(.coordinator)
    }

    /// The living processes of one kind, under all coordinators of the host.
    package func pids(_ role: Role) -> [pid_t] {
        (former + [coordinator]).flatMap(\.descendants).filter { pid in
            let line = ProcessTable.visibleText(of: pid)
            return line.split(separator: "\0", maxSplits: 2).dropFirst().first == role.rawValue[...]
        }.sorted()
    }

    /// The workers of living coordinators. The workers of a dead coordinator are about to end.
    package var placement: [pid_t] {
        let leaders = leaders
        return pids(.worker).filter { pid in ProcessTable.parent(of: pid).map(leaders.contains) ?? false }
    }

    /// Whether every living coordinator has started a child. A coordinator without a child does not handle signals yet.
    var isAtWork: Bool {
        let parents = Set(children.compactMap(ProcessTable.parent))
        return leaders.allSatisfy(parents.contains)
    }

    /// All living processes except the coordinator.
    var children: [pid_t] { (former + [coordinator]).flatMap(\.descendants) }

    /// Sends a signal to all coordinators of the host and all their children.
    package func signalAll(_ number: Int32) {
        for child in former where !child.descendants.isEmpty { _ = kill(-child.pid, number) }
        if !hasEnded { _ = kill(-coordinator.pid, number) }
    }

    /// Sends a signal to every living coordinator of the host; during an upgrade there are two.
    package func signal(_ number: Int32) {
        for pid in leaders { _ = kill(pid, number) }
    }

    /// Whether no coordinator of the host lives.
    package var hasEnded: Bool { leaders.isEmpty }

    /// Waits until all coordinators have ended.
    /// - Returns: the exit of the last coordinator that the stage started.
    package func ended(within limit: Duration = .seconds(60)) async throws -> Child.End {
        let end = try await coordinator.wait(within: limit)
        try await eventually("the coordinators of \(name) end", within: limit) { hasEnded }
        return end
    }

    func destroy() {
        for child in former + [coordinator] { child.destroy() }
    }
}
