import FarmHarness
import Foundation
import Testing

/// Checks that the metrics in the dashboard, the alert rules and the documentation exist.
@Suite(.startsProcesses) struct DashboardTests {
    private static let root = Repository.root

    private static func read(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// All words that begin with the prefix of the farm's metrics.
    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(?:pushfarm|process)_[a-z0-9_]+/).map { String($0.output) })
    }

    private static func expressions(_ value: Any) -> [String] {
        if let list = value as? [Any] { return list.flatMap(expressions) }
        guard let fields = value as? [String: Any] else { return [] }
        return fields.flatMap { key, value in
            if key == "expr" || key == "query", let text = value as? String { return [text] }
            return expressions(value)
        }
    }

    @Test
    func `a real scrape has every metric of dashboard, rules and docs, and docs have every metric`()
        async throws
    {
        // The farm has a certificate, so that the metric of its expiry exists.
        let farm = try await Farm(
            Farm.Options(
                apps: { started, _ in
                    [
                        App(started),
                        App(
                            started, name: "other",
                            credentials: "certificate: { file: \(started.certificateFile) }"),
                    ]
                }, lines: [MetricsTests.listen]))
        _ = try await farm.ready()
        try farm.push([Job(id: "one", tokens: Tokens.make(10))])
        _ = try await farm.finished("one")
        let scrape = try await eventually("all metrics are there") {
            let scrape = try farm.scrape()
            let hasAll = ["pushfarm_backlog_age_seconds", "pushfarm_alive_devices"].allSatisfy {
                scrape.kinds[$0] != nil
            }
            return hasAll ? scrape : nil
        }
        let dashboard = try JSONSerialization.jsonObject(
            with: Data(try Self.read("deploy/grafana-dashboard.json").utf8))
        let expressions = Self.expressions(dashboard)
        #expect(expressions.count > 30)
        let rules = try Self.read("deploy/alert-rules.yml").split(separator: "\n").filter {
            !$0.contains("summary:") && !$0.contains("- name:")
        }.joined(separator: "\n")
        for (place, text) in [("dashboard", expressions.joined(separator: "\n")), ("rules", rules)] {
            let names = Self.names(in: text)
            #expect(names.count > 10)
            for name in names.sorted() {
                #expect(scrape.kind(of: name) != nil, "\(place): \(name) is in no scrape")
            }
        }
        let documented = Self.names(in: try Self.read("docs/metrics.md"))
        for name in scrape.kinds.keys.sorted() {
            #expect(documented.contains(name), "\(name) is not in docs/metrics.md")
        }
        for name in documented where scrape.kind(of: name) == nil {
            // If the word is no metric, it must be the start of metrics' names, as in `pushfarm_intake_…_total`.
            #expect(scrape.kinds.keys.contains { $0.hasPrefix(name) }, "\(name) is in no scrape")
        }
        #expect(scrape.sum("pushfarm_credential_expires_timestamp_seconds", ["app": "other"]) > 1.7e9)
        #expect(
            !scrape.samples.contains {
                $0.name.hasPrefix("pushfarm_credential") && $0.labels["app"] == "demo"
            })
    }
}
