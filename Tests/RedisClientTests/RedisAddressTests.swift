import Testing
import Transport

@testable import RedisClient
@testable import StoreProtocol

@Suite struct RedisAddressTests {
    @Test(arguments: [
        ("redis://127.0.0.1:6380/2", Endpoint.tcp(host: "127.0.0.1", port: 6380), false, 2, "", ""),
        ("redis://localhost", .tcp(host: "localhost", port: 6379), false, 0, "", ""),
        ("rediss://u:p%40ss%3A@r.example:6390/0", .tcp(host: "r.example", port: 6390), true, 0, "u", "p@ss:"),
        ("redis://:secret@[::1]:7000", .tcp(host: "::1", port: 7000), false, 0, "", "secret"),
        ("redis://:a:b@h", .tcp(host: "h", port: 6379), false, 0, "", "a:b"),
        ("unix:///run/redis.sock", .unix(path: "/run/redis.sock"), false, 0, "", ""),
        ("unix://:pw@/run/a%20b@c.sock?db=3", .unix(path: "/run/a b@c.sock"), false, 3, "", "pw"),
    ])
    func `reads an address`(
        url: String, endpoint: Endpoint, tls: Bool, database: Int, user: String, password: String
    ) throws {
        let address = try RedisAddress(url)
        #expect(address.endpoint == endpoint && address.usesTLS == tls && address.database == database)
        #expect(address.user == user && address.password == password)
    }

    @Test(arguments: [
        ("127.0.0.1:6379", RedisAddressError.noScheme), ("http://h", .unknownScheme("http")),
        ("redis://", .badHost), ("redis://h:0", .badPort), ("redis://h:70000", .badPort),
        ("redis://h/x", .badDatabase), ("unix://run/redis.sock", .badPath), ("unix:///a?db=-1", .badDatabase),
        ("unix:///a?x=1", .badDatabase), ("redis://:%zz@h", .badCredentials), ("redis://[::1", .badHost),
        ("redis://a b", .badHost),
    ])
    func `an error describes the fault of an address`(url: String, error: RedisAddressError) {
        #expect(throws: error) { try RedisAddress(url) }
    }

    @Test func `an address never shows user or password`() throws {
        let address = try RedisAddress("rediss://admin:hunter2@h:1/1")
        var dumped = ""
        dump(address, to: &dumped)
        for text in ["\(address)", String(reflecting: address), dumped] {
            #expect(!text.contains("hunter2") && !text.contains("admin"), "\(text)")
        }
        #expect("\(address)" == "rediss://h:1/1")
        for url in ["redis://:hunter2@h:x", "redis://:hunter2%zz@h", "redis://:hunter2@a b"] {
            do {
                _ = try RedisAddress(url)
                Issue.record("\(url) was read")
            } catch {
                #expect(!"\(error)".contains("hunter2"))
            }
        }
    }
}
