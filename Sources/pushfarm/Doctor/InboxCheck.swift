import EventLoop
import PushModel
import StoreProtocol

/// Whether jobs wait in inboxes of apps that are not configured, such as those of a misspelt name.
@Loop struct InboxCheck {
    let client: FarmClient

    /// Redis's keys are looked at in portions, and so many portions at most.
    private static let (keys, portions) = (500, 40)
    /// Inboxes that are told of.
    private static let most = 5

    func findings() async throws(CommandFailure) -> [Finding] {
        let check = "inboxes"
        let hosts = try await client.ask { registry throws(RedisError) in try await registry.hosts() }
        let apps = client.configuration.apps.map(\.name) + hosts.flatMap(\.apps)
        let (names, isWhole) = try await strangers(to: Set(apps))
        var findings: [Finding] = []
        for name in names.prefix(Self.most) {
            let jobs = try await client.ask { registry throws(RedisError) in
                try await registry.inboxLength(name)
            }
            guard jobs > 0 else { continue }
            let meant = NearestWord.find(name, among: apps).map { "; did you mean \"\($0)\"?" } ?? ""
            findings.append(
                Finding(
                    check, .warning,
                    "pushfarm:\(PlainText.of(name, limit: 64)) holds \(Figures.counted(jobs, "job", "jobs")), and no app of "
                        + "this name is configured\(meant)",
                    advice: "Correct the producer. RENAME moves the list, or configure the app."))
        }
        if names.count > Self.most {
            findings.append(Finding(check, .warning, "there are \(names.count - Self.most) more of them"))
        }
        guard findings.isEmpty else { return findings }
        return [
            Finding(
                check, .ok,
                isWhole
                    ? "none of an app that is not configured"
                    : "none of an app that is not configured among the first \(Self.keys * Self.portions) keys"
            )
        ]
    }

    private func strangers(
        to apps: Set<String>
    ) async throws(CommandFailure) -> (names: [String], isWhole: Bool) {
        var (cursor, found): (String, Set<String>) = ("0", [])
        for _ in 0..<Self.portions {
            let from = cursor
            let page = try await client.ask { registry throws(RedisError) in
                try await registry.inboxes(from: from, count: Self.keys)
            }
            found.formUnion(page.names.filter { !apps.contains($0) })
            cursor = page.next
            if cursor == "0" { return (found.sorted(), true) }
        }
        return (found.sorted(), false)
    }
}
