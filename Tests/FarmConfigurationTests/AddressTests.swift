import Testing

@testable import FarmConfiguration

struct HostPortTests {
    @Test(arguments: [
        ("h", "h:443"), ("h:1", "h:1"), ("h.example:65535", "h.example:65535"), ("[::1]", "[::1]:443"),
        ("[fe80::1%eth0]:8443", "[fe80::1%eth0]:8443"),
    ])
    func `reads names and addresses`(text: String, shown: String) {
        #expect(HostPort(text, defaultPort: 443)?.description == shown)
    }

    @Test(arguments: [
        "", ":1", "h:", "h:0", "h:65536", "h:+1", "h:1:2", "::1", "[::1", "[h]", "[::1]1", "a b", "h\u{0}",
    ])
    func `refuses everything else`(text: String) {
        #expect(HostPort(text, defaultPort: 443) == nil)
    }

    @Test func `a port may be required`() {
        #expect(HostPort("h", defaultPort: nil) == nil)
    }
}

struct RedisLocationTests {
    @Test(arguments: [
        ("redis://h", "redis://h:6379/0"), ("redis://:p@h:1/3", "redis://:***@h:1/3"),
        ("unix:///run/r.sock", "unix:///run/r.sock"),
        ("unix://var/r.sock?db=2", "unix:///base/var/r.sock?db=2"),
        ("unix://./r.sock", "unix:///base/r.sock"), ("unix:///run/a%20b%3f.sock", "unix:///run/a b?.sock"),
        ("unix://u:p@/run/r.sock", "unix://u:***@/run/r.sock"),
    ])
    func `reads all forms and hides the password`(text: String, shown: String) throws {
        #expect(try RedisLocation(text, relativeTo: "/base").description == shown)
    }

    @Test(arguments: [
        "unix://", "unix:///run/", "unix:///run/%zz", "unix:///run/a%00b",
        "unix:///" + String(repeating: "a", count: 110), "redis://h?x=1",
    ])
    func `refuses what names no socket or host`(text: String) {
        #expect(throws: InvalidValue.self) { try RedisLocation(text, relativeTo: "/base") }
    }
}
