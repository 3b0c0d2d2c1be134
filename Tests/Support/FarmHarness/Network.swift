import Foundation

/// The machines of one test: network namespaces with one address each, joined by a switch in another namespace.
///
/// All interfaces are inside the namespaces, so names and addresses cannot collide with those of another network. `deinit`
/// removes everything. After a crash of the tests the ``Guardian`` removes everything.
package final class Network {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The reason why this machine cannot make namespaces; nil if this machine can.
    package static let obstacle: String? = {
        guard geteuid() == 0 else { return "network namespaces need root" }
        do {
            let probe = "pf-probe-\(getpid())"
            try ip("netns", "add", probe)
            defer { try? ip("netns", "del", probe) }
            try ip("-n", probe, "link", "add", "pf0", "type", "veth", "peer", "name", "pf1")
            try ip("-n", probe, "link", "add", "pf2", "type", "bridge")
            return nil
        } catch { return "network namespaces are not permitted here: \(error)" }
    }()

    private let hub: String
    private let machines: [String]

    package init(_ machines: [String]) throws {
        self.machines = machines
        hub = "pf-\(getpid())-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        var isMade = false
        defer { if !isMade { destroy() } }
        try make(hub)
        try ip("-n", hub, "link", "add", "switch", "type", "bridge", "forward_delay", "0")
        try ip("-n", hub, "link", "set", "switch", "up")
        for machine in machines { try join(machine) }
        isMade = true
    }

    deinit { destroy() }

    /// The machine's address: 10.77.0.1 for the first machine, 10.77.0.2 for the second.
    package func address(of machine: String) -> String {
        guard let index = machines.firstIndex(of: machine) else {
            preconditionFailure("no machine \(machine)")
        }
        return "10.77.0.\(index + 1)"
    }

    /// The first words of a command line that runs a program on the machine.
    package func prefix(_ machine: String) -> [String] {
        ["nsenter", "--net=/run/netns/" + namespace(machine), "--"]
    }

    // MARK: Faults

    /// Drops all packets between two machines. Neither machine gets an error.
    package func cut(_ one: String, _ other: String) throws {
        for (here, there) in [(one, other), (other, one)] {
            try ip(
                "-n", namespace(here), "neigh", "replace", address(of: there), "lladdr", "02:de:ad:00:00:01",
                "dev", "eth0", "nud", "permanent")
        }
    }

    package func heal(_ one: String, _ other: String) throws {
        for (here, there) in [(one, other), (other, one)] {
            try ip("-n", namespace(here), "neigh", "del", address(of: there), "dev", "eth0")
        }
    }

    /// Unplugs the machine's network cable, or plugs the cable in.
    package func plug(_ machine: String, isIn: Bool) throws {
        try ip("-n", hub, "link", "set", port(machine), isIn ? "up" : "down")
    }

    // MARK: Making

    private func namespace(_ machine: String) -> String { "\(hub)-\(machine)" }
    private func port(_ machine: String) -> String { "p\(machines.firstIndex(of: machine) ?? 0)" }

    private func make(_ name: String) throws {
        Guardian.shared.watch(namespace: name)
        try ip("netns", "add", name)
        try ip("-n", name, "link", "set", "lo", "up")
    }

    private func join(_ machine: String) throws {
        let name = namespace(machine)
        try make(name)
        try ip("-n", hub, "link", "add", port(machine), "type", "veth", "peer", "name", "eth0", "netns", name)
        try ip("-n", hub, "link", "set", port(machine), "master", "switch", "up")
        try ip("-n", name, "addr", "add", address(of: machine) + "/24", "dev", "eth0")
        try ip("-n", name, "link", "set", "eth0", "up")
    }

    private func destroy() {
        for name in machines.map(namespace) + [hub] {
            try? ip("netns", "del", name)
            Guardian.shared.forget(namespace: name)
        }
    }
}

/// Runs `ip` until it ends. `ip` writes to the output of the tests. This function does not read the output through a pipe,
/// because a process that another test starts meanwhile would inherit the pipe and keep the pipe open.
private func ip(_ arguments: String...) throws {
    let words = CStrings(["ip"] + arguments)
    var pid: pid_t = 0
    let path = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"].first(
        where: FileManager.default.isExecutableFile)
    guard let path else {
        throw Network.Failure(description: "no command ip: the package iproute2 is missing")
    }
    guard posix_spawn(&pid, path, nil, nil, words.pointers, environ) == 0 else {
        throw Network.Failure(description: "cannot start \(path)")
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else {
        throw Network.Failure(description: "ip \(arguments.joined(separator: " ")): status \(status >> 8)")
    }
}
