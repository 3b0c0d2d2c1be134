import FarmHarness
import Foundation
import Testing

/// Checks the systemd units without a running systemd. Tests in FarmTests start the units with a real systemd.
struct UnitTests {
    private static let services = ["pushfarm.service", "pushfarm@.service"]

    @Test(arguments: services)
    func `the unit has the settings that the coordinator relies on`(name: String) throws {
        let unit = UnitFile(try DeployFolder.text(name))
        let promised = [
            "Type": "notify", "NotifyAccess": "main", "WatchdogSec": "20", "KillMode": "mixed",
            "ExecReload": "/bin/kill -HUP $MAINPID", "TimeoutStopSec": "40", "Restart": "on-failure",
            "RestartSec": "1", "RestartPreventExitStatus": "2", "OOMPolicy": "continue",
            "LimitNOFILE": "65536", "LimitCORE": "0", "StartLimitIntervalSec": "0",
            "LoadCredential": "keys:/etc/pushfarm/keys",
        ]
        for (key, value) in promised { #expect(unit.values(key) == [value], "\(key)") }
    }

    @Test func `the template unit differs from the single unit only in names and folders`() throws {
        let units = try Self.services.map { UnitFile(try DeployFolder.text($0)) }
        let difference = units[1].lines.difference(from: units[0].lines)
        #expect(
            difference.insertions.map(\.line) == [
                "[Unit] Description=Pushfarm coordinator %i",
                "[Service] ExecStart=/usr/bin/pushfarm coordinator --config /etc/pushfarm/%i.yaml",
                "[Service] Environment=PUSHFARM_STATE_DIR=%S/pushfarm/%i",
                "[Service] Environment=PUSHFARM_HOST=%H-%i",
                "[Service] StateDirectory=pushfarm/%i",
                "[Service] RuntimeDirectory=pushfarm-%i",
            ])
        #expect(difference.removals.count == 5)
    }

    @Test(
        .enabled(if: DeployFolder.program("systemd-analyze") != nil, "systemd is not installed"),
        arguments: services)
    func `systemd finds no fault in the unit and rates its sandbox as safe`(name: String) async throws {
        let folder = try TestFolder()
        let copy = name.replacingOccurrences(of: "@", with: "@blue")
        // The test puts the path of the built program into the unit, and removes its Documentation lines, because the manual is
        // not installed.
        let text = try DeployFolder.text(name)
            .replacingOccurrences(of: "/usr/bin/pushfarm", with: BuiltProgram.path)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("Documentation=") }.joined(separator: "\n")
        let file = try folder.write(text, to: copy)
        try folder.copy(DeployFolder.path("pushfarm.slice"), to: "pushfarm.slice")
        let verify = try Child("verify", "systemd-analyze", ["verify", "--man=no", file], in: folder.path)
        #expect(try await verify.wait() == .exited(0))
        // systemd-analyze also complains about units of this machine that do not belong to the farm.
        let complaints = (verify.output + verify.error).split(separator: "\n").filter {
            $0.contains("pushfarm")
        }
        #expect(complaints.isEmpty, "\(complaints)")
        // The unit's exposure level may be at most 2.0. The option `--threshold` takes this limit times ten.
        let security = try Child(
            "security", "systemd-analyze", ["security", "--offline=true", "--threshold=20", file],
            in: folder.path)
        #expect(try await security.wait() == .exited(0), "\(security.output.suffix(300))")
    }
}

extension CollectionDifference.Change where ChangeElement == String {
    fileprivate var line: String {
        switch self {
        case .insert(_, let line, _), .remove(_, let line, _): line
        }
    }
}
