import Supervision
import Testing

struct ServiceEnvironmentTests {
    private static let socket = ["NOTIFY_SOCKET": "/run/systemd/notify"]

    @Test(arguments: [[:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "@"], ["NOTIFY_SOCKET": "vsock:2:1"]])
    func `without a socket there is no service manager`(variables: [String: String]) {
        #expect(ServiceEnvironment(variables, pid: 7) == nil)
    }

    @Test(arguments: [
        ([:], nil),
        (["WATCHDOG_USEC": "20000000"], Duration.seconds(20)),
        (["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "7"], .seconds(20)),
        (["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "8"], nil),
        (["WATCHDOG_USEC": "0"], nil),
        (["WATCHDOG_USEC": "soon"], nil),
    ])
    func `the watchdog gets signs of life when it is set for this process`(
        more: [String: String], watchdog: Duration?
    ) throws {
        let environment = try #require(ServiceEnvironment(Self.socket.merging(more) { $1 }, pid: 7))
        #expect(environment.watchdog == watchdog && environment.socket == "/run/systemd/notify")
    }

    @Test(arguments: [
        (nil, Duration.seconds(1)), ("20000000", .seconds(1)), ("1000000", .milliseconds(500)),
        ("1", .milliseconds(10)),
    ])
    func `a sign of life is sent twice per watchdog period`(microseconds: String?, interval: Duration) throws
    {
        var variables = Self.socket
        variables["WATCHDOG_USEC"] = microseconds
        #expect(try #require(ServiceEnvironment(variables, pid: 7)).interval == interval)
    }
}
