import FarmHarness
import Foundation
import Testing

/// Runs the units of deploy/ with a real systemd on a separate machine (Tests/boot).
@Suite(.startsProcesses, .enabled(if: Machine.obstacle == nil, Comment(rawValue: Machine.obstacle ?? "")))
struct SystemdTests {
    private static func text(_ name: String) throws -> String {
        try String(contentsOf: Machine.root.appendingPathComponent(name), encoding: .utf8)
    }

    private static let configuration = """
        redis: redis://127.0.0.1:6379/0
        workers: 2
        apps:
          demo:
            topic: com.example.demo
            gateway: https://127.0.0.1:8443
            ca_file: ca.pem
            key: { file: "${CREDENTIALS_DIRECTORY}/keys_AuthKey_SIMULATOR1.p8", id: SIMULATOR1, team: PUSHFARM01 }

        """

    /// A machine with Redis, a gateway, and the service as the package installs it. The watchdog finds a hang after a second.
    private static func machine() async throws -> Machine {
        let units = "etc/systemd/test/"
        var files = [
            "etc/hostname": "machine\n",
            "etc/passwd": try String(contentsOfFile: "/etc/passwd", encoding: .utf8)
                + "pushfarm:x:10001:10001::/var/lib/pushfarm:/usr/sbin/nologin\n",
            "etc/group": try String(contentsOfFile: "/etc/group", encoding: .utf8)
                + "pushfarm:x:10001:\n",
            "etc/pushfarm/pushfarm.yaml": configuration, "etc/pushfarm/blue.yaml": configuration,
            units + "redis.service":
                "[Service]\nExecStart=redis-server --save '' --maxmemory-policy noeviction\n",
            units + "simulator.service":
                "[Service]\nExecStart=/usr/bin/pushfarm simulator --folder /var/lib/simulator\n",
        ]
        for name in ["pushfarm.service", "pushfarm@.service", "pushfarm.slice"] {
            files[units + name] = try text("deploy/" + name)
        }
        for name in ["pushfarm.service.d", "pushfarm@.service.d"] {
            files[units + name + "/test.conf"] =
                "[Service]\nWatchdogSec=2\nStandardError=append:/var/log/pushfarm-test.log\n"
        }
        let machine = try await Machine(files, program: BuiltProgram.path)
        try await machine.did(
            """
            set -e
            systemctl start redis simulator
            until [ -S /var/lib/simulator/control.sock ]; do sleep 0.1; done
            install -d -m 700 /etc/pushfarm/keys
            install -m 600 /var/lib/simulator/AuthKey_SIMULATOR1.p8 /etc/pushfarm/keys/
            install -m 640 -g pushfarm /var/lib/simulator/ca.pem /etc/pushfarm/
            chgrp pushfarm /etc/pushfarm /etc/pushfarm/*.yaml
            chmod 750 /etc/pushfarm
            chmod 640 /etc/pushfarm/*.yaml
            """)
        return machine
    }

    private static func push(_ machine: Machine) async throws {
        let result = try await machine.did(
            """
            pushfarm push --config /etc/pushfarm/pushfarm.yaml --app demo --alert Hello --wait --json \
                --token \(Tokens.make(1)[0])
            """)
        #expect(result.contains(#""delivered":1"#), "\(result)")
    }

    @Test func `the service reports ready when it delivers, and runs in its sandbox`() async throws {
        let machine = try await Self.machine()
        try await machine.did("systemctl start pushfarm")
        let unit = try await machine.show("pushfarm")
        #expect(unit["ActiveState"] == "active" && unit["Slice"] == "pushfarm.slice")
        try await eventually("the status line tells of workers") {
            try await machine.show("pushfarm")["StatusText"]?.hasPrefix("1 host, 2 of 2 workers") ?? false
        }
        try await Self.push(machine)
        let status = try await machine.did("cat /proc/\(unit["MainPID"] ?? "")/status")
        for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "Uid:\t10001"] {
            #expect(status.contains(line), "\(status)")
        }
        // Users other than root and the service's user cannot read the service's secrets.
        let peek = try await machine.run(
            "setpriv --reuid=65534 --clear-groups ls /run/credentials/pushfarm.service /etc/pushfarm")
        #expect(peek.status != 0 && peek.output.isEmpty, "\(peek)")

        // A second instance of the service on this machine is a second host of the farm.
        try await machine.did("systemctl start pushfarm@blue")
        try await eventually("they see each other") {
            try await machine.show("pushfarm@blue")["StatusText"]?.hasPrefix("2 hosts, 2 of 2") ?? false
        }
        let hosts = try await machine.did("redis-cli hkeys '{pushfarm}:hosts'")
        #expect(hosts.split(separator: "\n").sorted() == ["machine", "machine-blue"])
        try await machine.did("systemctl stop pushfarm pushfarm@blue")
        for name in ["pushfarm", "pushfarm@blue"] {
            let unit = try await machine.show(name)
            #expect(unit["ActiveState"] == "inactive" && unit["Result"] == "success", "\(name)")
        }
        #expect(try await machine.run("pgrep -f 'pushfarm (coordinator|worker|intake)'").status == 1)
    }

    @Test func `systemd restarts a hanging or killed service, but not one with an invalid configuration`()
        async throws
    {
        let machine = try await Self.machine()
        try await machine.did("systemctl start pushfarm")
        try await machine.did("kill -STOP $(systemctl show pushfarm --property=MainPID --value)")
        try await eventually("its silence is noticed") {
            let unit = try await machine.show("pushfarm")
            return unit["NRestarts"] == "1" && unit["ActiveState"] == "active"
        }
        try await Self.push(machine)
        try await machine.did("kill -KILL $(systemctl show pushfarm --property=MainPID --value)")
        try await eventually("it is started again") {
            let unit = try await machine.show("pushfarm")
            return unit["NRestarts"] == "2" && unit["ActiveState"] == "active"
        }
        try await Self.push(machine)

        // After an upgrade the successor is the service's main process and notifies systemd.
        let before = try await machine.show("pushfarm")["MainPID"]
        try await machine.did(
            "pushfarm upgrade all --local --config /etc/pushfarm/pushfarm.yaml --state-dir /var/lib/pushfarm"
        )
        let after = try await machine.show("pushfarm")
        #expect(
            after["MainPID"] != before && after["ActiveState"] == "active" && after["NRestarts"] == "2")
        // The suspension is longer than the watchdog's limit.
        try await Task.sleep(for: .seconds(5))
        #expect(try await machine.show("pushfarm")["MainPID"] == after["MainPID"])
        try await Self.push(machine)

        // After the upgrade the coordinator is a process that systemd did not start.
        // `systemctl stop` must still stop it gracefully.
        try await machine.did("systemctl stop pushfarm")
        #expect(try await machine.show("pushfarm")["Result"] == "success")
        #expect(
            try await machine.did("tail -n 1 /var/log/pushfarm-test.log").contains("coordinator stopped"))
        try await machine.did("systemctl start pushfarm")

        // A reload with an invalid file changes nothing, and systemd gets an error.
        try await machine.did(
            "echo 'redis: nonsense' >/etc/pushfarm/pushfarm.yaml && systemctl reload pushfarm")
        try await eventually("the status line gives the reason") {
            let unit = try await machine.show("pushfarm")
            return unit["ActiveState"] == "active"
                && unit["StatusText"]?.contains("configuration refused: /etc/pushfarm/pushfarm.yaml:1")
                    == true
        }
        #expect(try await machine.run("systemctl restart pushfarm").status != 0)
        let failed = try await machine.show("pushfarm")
        #expect(
            failed["ActiveState"] == "failed" && failed["ExecMainStatus"] == "2",
            "\(failed["Result"] ?? "")")
        try await Task.sleep(for: .seconds(3))
        #expect(try await machine.show("pushfarm")["ActiveState"] == "failed")
    }
}
