import FarmHarness
import Foundation

/// An operator command or a fault, applied under load.
struct DrillStep {
    let name: String
    /// Whether pushes may be duplicated, at most as often as the job records count in `maybe_duplicated`.
    var mayDuplicate = false
    /// Whether the pushes of this step stay queued. The next step then counts these pushes too.
    var holds = false
    /// The step's own job. The job's deliveries must match its job record.
    var extra: Extra?
    let act: (DrillFarm) async throws -> Void

    struct Extra {
        let number: Int
        /// Whether the step cancels the job. Otherwise all pushes of the job are delivered.
        var isCalledBack = false
    }

    static func command(_ text: String, mayDuplicate: Bool = false, holds: Bool = false) -> DrillStep {
        DrillStep(name: text, mayDuplicate: mayDuplicate, holds: holds) { farm in
            let result = try await farm.run(text.split(separator: " ").map(String.init))
            guard result.status == 0 else {
                throw DrillFailure("\(text): status \(result.status): \(result.text)")
            }
        }
    }

    static func signal(_ name: String, _ number: Int32, _ host: String) -> DrillStep {
        DrillStep(name: "SIG\(name) to \(host)") { try $0.signal(host, number) }
    }

    static var all: [DrillStep] {
        [
            DrillStep(name: "nothing") { _ in },
            .command("scale 4 alpha"), .command("scale 2 alpha"),
            .command("scale auto all"), .command("scale +0 all"), .command("scale default all"),
            .command("restart alpha/0"), .command("restart beta"), .command("restart all --rolling"),
            .command("quiet beta/0", holds: true), .command("restart beta/0"),
            .command("drain beta/1"), .command("restart beta/1"),
            .command("stop alpha/1"), .command("restart alpha/1"),
            .command("shards move 7 beta"), .command("shards move 7 alpha"),
            .command("shards move 7 auto --no-wait"),
            .command("reload all"), .command("drain beta"),
            .command("resume beta"),
            DrillStep(name: "beta has its shards again") { try await $0.shared(by: ["alpha", "beta"]) },
            .command("pause demo", holds: true), .command("resume demo"),
            .command("pause all", holds: true), .command("resume all"),
            .command("pause demo --shard 9", holds: true), .command("resume demo --shard 9"),
            .holding(0, ["pause", "--job"], ["resume", "--job"]),
            .holding(1, ["pause"], ["resume"]),
            .command("pause --app demo", holds: true), .command("resume --app demo"),
            .command("pause --shard 11 --app demo", holds: true),
            .command("resume --shard 11 --app demo"),
            DrillStep(name: "pause of a token that comes", holds: true) { farm in
                try await farm.must(["pause", "--token", farm.comingToken, "--app", "demo"])
            },
            .command("resume --quarantined all"),
            .command("rate demo 8000/s", holds: true), .command("rate demo default"),
            .command("admission close demo"), .command("admission auto demo"),
            .command("backlog --eta --over 1"), .command("jobs --running --over 0.5"),
            .cancel(2, waits: true), .cancel(3, waits: false),
            DrillStep(name: "promote of a job that waits for tomorrow", extra: Extra(number: 4)) { farm in
                let id = try farm.pushExtra(
                    4, fields: #""deliver_at":\#(Int(Date().timeIntervalSince1970) + 86_400)"#)
                try await farm.jobRecord(of: id, has: "delayed", atLeast: 1)
                try await farm.must(["promote", id, "--app", "demo"])
            },
            .command("upgrade all"), .command("debug log-level debug all"),
            .command("debug log-level info all"),
            .command("debug dump alpha"), .command("debug purge all"),
            .command("debug kill alpha/0", mayDuplicate: true),
            .command("debug takeover 7 --app demo --host alpha --force --yes 7", mayDuplicate: true),
            .command("debug takeover 7 --app demo --host beta --force --yes 7", mayDuplicate: true),
            .signal("TTIN", SIGTTIN, "alpha"), .signal("TTOU", SIGTTOU, "alpha"),
            .signal("HUP", SIGHUP, "alpha"),
            .signal("CONT", SIGCONT, "alpha"), .signal("USR1", SIGUSR1, "alpha"),
            .signal("USR2", SIGUSR2, "alpha"),
            .signal("WINCH", SIGWINCH, "beta"), .signal("HUP", SIGHUP, "beta"),
            DrillStep(name: "beta has its shards again") { try await $0.shared(by: ["alpha", "beta"]) },
            .command("stop beta"),
            DrillStep(name: "beta starts again") { farm in
                try farm.start("beta")
                try await farm.shared(by: ["alpha", "beta"])
            },
            DrillStep(name: "SIGKILL to all of beta", mayDuplicate: true) { farm in
                farm.destroy("beta")
                try await farm.shared(by: ["alpha"])
            },
        ]
    }
}

extension DrillStep {
    /// Pauses a job while the farm sends it, and resumes the job later.
    static func holding(_ number: Int, _ hold: [String], _ release: [String]) -> DrillStep {
        DrillStep(name: "\(hold[0]) of a job, \(release[0])", extra: Extra(number: number)) { farm in
            let id = try farm.pushExtra(number)
            try await farm.jobRecord(of: id, has: "delivered", atLeast: 1)
            try await farm.must(hold + [id, "--app", "demo"])
            try await eventually("no push of \(id) is in flight") {
                try farm.number(of: id, "in_flight") == 0
            }
            let delivered = try farm.number(of: id, "delivered")
            try await Task.sleep(for: .seconds(1))
            guard try farm.number(of: id, "delivered") == delivered else {
                throw DrillFailure("\(id) still delivers")
            }
            try await farm.must(release + [id, "--app", "demo"])
        }
    }

    /// Cancels a job while the farm sends or splits it.
    static func cancel(_ number: Int, waits: Bool) -> DrillStep {
        DrillStep(
            name: waits ? "cancel of a job that is sent" : "cancel of a job that is split",
            extra: Extra(number: number, isCalledBack: true)
        ) { farm in
            let id = try farm.pushExtra(number)
            if waits { try await farm.jobRecord(of: id, has: "delivered", atLeast: 1) }
            try await farm.must(["cancel", id, "--app", "demo"])
        }
    }
}

struct DrillFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
