import Testing

@testable import FarmConfiguration

struct ConfigurationErrorTests {
    private static let key = "key: { file: k, id: ABC123DEFG, team: DEF123GHIJ }"

    @Test(arguments: [
        ("workrs: 2", "etc/farm.yaml:1: workrs: unknown key; did you mean workers?"),
        (
            "redis: redis://h\n\nstate-dir: x",
            "etc/farm.yaml:3: state-dir: unknown key; did you mean state_dir?"
        ),
        ("speed: 2", "etc/farm.yaml:1: speed: unknown key; deploy/pushfarm.yaml shows all keys"),
        ("log:\n  levle: info", "etc/farm.yaml:2: log.levle: unknown key; did you mean level?"),
        (
            "apps:\n  demo:\n    topik: x",
            "etc/farm.yaml:3: apps.demo.topik: unknown key; did you mean topic?"
        ),
        (
            "apps:\n  demo:\n    key:\n      file: x\n      tem: y",
            "etc/farm.yaml:5: apps.demo.key.tem: unknown key; did you mean team?"
        ),
        (
            "workers: two",
            "etc/farm.yaml:1: workers: expected a whole number from 1 to 256, or auto, found text \"two\""
        ),
        ("workers: 0", "etc/farm.yaml:1: workers: expected a whole number from 1 to 256, or auto, found 0"),
        (
            "workers: 257",
            "etc/farm.yaml:1: workers: expected a whole number from 1 to 256, or auto, found 257"
        ),
        (
            "workers: \"2\"",
            "etc/farm.yaml:1: workers: expected a whole number from 1 to 256, or auto, found text \"2\""
        ),
        ("shards: 1025", "etc/farm.yaml:1: shards: expected a whole number from 1 to 1024, found 1025"),
        (
            "shards: 99999999999999999999",
            "etc/farm.yaml:1: shards: expected a whole number from 1 to 1024, found 99999999999999999999"
        ),
        ("shards: -1", "etc/farm.yaml:1: shards: expected a whole number from 1 to 1024, found text \"-1\""),
        ("shards: [1]", "etc/farm.yaml:1: shards: expected a plain value, found a list"),
        ("shards:", "etc/farm.yaml:1: shards: expected a value, found nothing"),
        ("log: info", "etc/farm.yaml:1: log: expected keys (level, format, file), found a plain value"),
        (
            "log: { level: loud }",
            "etc/farm.yaml:1: log.level: expected one of trace, debug, info, notice, warning, error, critical, found text \"loud\""
        ),
        ("apps: [demo]", "etc/farm.yaml:1: apps: expected names with their keys, found a list"),
        (
            "- a",
            "etc/farm.yaml:1: expected keys (redis, redis_ca_file, redis_password_file, state_dir, workers, shards, host, program, job_records_kept, job_record_hours, log, metrics, alerts, apps), found a list"
        ),
        ("a: 1\na: 2", "etc/farm.yaml:1: a: the key is there twice"),
        ("redis: http://h", "etc/farm.yaml:1: redis: expected redis://, rediss:// or unix://, found http://"),
        ("redis: redis://h/x", "etc/farm.yaml:1: redis: the Redis database must be a number"),
        ("redis: redis://h:0", "etc/farm.yaml:1: redis: the Redis address has no valid host and port"),
        (
            "redis: 6379",
            "etc/farm.yaml:1: redis: expected redis://host:port/0, rediss://… or unix:///path/redis.sock"
        ),
        ("redis_ca_file: x", "etc/farm.yaml:1: redis_ca_file: needs the key \"redis\", which is not set"),
        (
            "host: a:b",
            "etc/farm.yaml:1: host: expected at most 128 printable characters without space, colon or braces"
        ),
    ])
    func `an error names file, line, key and fault`(text: String, message: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        #expect(error?.description == message)
    }

    @Test(arguments: [
        ("", "has no credentials: give key: {file, id, team} or certificate: {file, password_env}", 2),
        (
            key + "\n    certificate: { file: x }",
            "the app also has \"key\"; give only one of \"certificate\" and \"key\"", 5
        ),
        ("key: { id: ABC123DEFG, team: DEF123GHIJ }", "is missing", 4),
        (
            "key: { file: k, id: abc, team: DEF123GHIJ }",
            "expected 10 capital letters or digits, found \"abc\"", 4
        ),
        ("key: { file: k, id: 1234567890 }", "is missing", 4),
        (
            key + "\n    gateway: tls://h:2195",
            "a binary gateway knows apps by their certificate only; give certificate: {file}", 4
        ),
        (
            key + "\n    gateway: http://h",
            "the farm sends to a gateway only over TLS: use https:// instead of http://", 5
        ),
        (
            key + "\n    gateway: https://h/path",
            "expected only https://host:port, without user, path or options", 5
        ),
        (
            key + "\n    gateway: localhost:8443",
            "expected https://host:port, or tls://host:port for the binary protocol", 5
        ),
        (
            "certificate: { file: k }\n    gateway: tls://h/path",
            "expected only tls://host:port, without user, path or options", 5
        ),
        (
            "certificate: { file: k }\n    gateway: tls://h\n    feedback: https://h",
            "expected tls://host:port", 6
        ),
        (
            "certificate: { file: k }\n    gateway: tls://h\n    binary: { command: 3 }",
            "expected a whole number from 0 to 2, found 3", 6
        ),
        (
            "certificate: { file: k }\n    gateway: tls://h\n    binary: { sentinel: maybe }",
            "expected one of true, false, found text \"maybe\"", 6
        ),
        (
            key + "\n    binary: { quiet_time: 2 }",
            "belongs to the binary protocol, which needs a gateway of the form tls://host:port", 5
        ),
        (
            key + "\n    feedback: tls://h:2196",
            "belongs to the binary protocol, which needs a gateway of the form tls://host:port", 5
        ),
        (key + "\n    proxy: proxy:3128", "expected http://host:port of a proxy that allows CONNECT", 5),
        (key + "\n    proxy: http://proxy", "expected http://host:port, without a path", 5),
        (
            key + "\n    proxy: http://me:secret@proxy:3128",
            "a proxy that asks for a password is not supported",
            5
        ),
        (
            key + "\n    request_timeout: 0",
            "expected seconds or a duration such as 90s, more than 0 and at most 3600 seconds, found 0", 5
        ),
        (
            key + "\n    max_tokens: 1000001",
            "expected a whole number from 1 to 1000000, found 1000001", 5
        ),
        (key + "\n    max_backlog: 0", "expected a whole number from 1 to 1000000000, found 0", 5),
        (
            key + "\n    suppression: { days: 0 }", "expected a whole number from 1 to 366, found 0", 5
        ),
        (
            key + "\n    suppression: { hold_share: 0 }", "expected a whole number from 1 to 100, found 0", 5
        ),
        (
            key + "\n    suppression: { tokens: 10 }",
            "expected a whole number from 1000 to 100000000, found 10", 5
        ),
        (
            key + "\n    max_inbox: many",
            "expected a whole number from 1 to 1000000000, found text \"many\"", 5
        ),
        (
            key + "\n    max_inbox_bytes: 1000",
            "expected a whole number from 1024 to 1125899906842624, found 1000", 5
        ),
        (
            key + "\n    request_timeout: 20x",
            "expected seconds or a duration such as 90s, more than 0 and at most 3600 seconds, found text \"20x\"",
            5
        ),
        (
            key + "\n    request_timeout: 2h",
            "expected seconds or a duration such as 90s, more than 0 and at most 3600 seconds, found text \"2h\"",
            5
        ),
        (
            key + "\n    dead_letters: { days: 36h }",
            "expected a whole number from 1 to 366, found text \"36h\"", 5
        ),
        (
            key + "\n    audit: { hours: 400d }",
            "expected a whole number from 1 to 8784, found text \"400d\"", 5
        ),
        (
            key + "\n    environment: prod",
            "expected one of production, sandbox, found text \"prod\"", 5
        ),
        (key + "\n    connections: 0", "expected a whole number from 1 to 64, found 0", 5),
        (key + "\n    topic: \"\"", "is empty", 5),
        (
            "certificate: { file: c, password_env: A, password_file: b }",
            "the app also has \"password_env\"; give only one of the two keys", 4
        ),
    ])
    func `an error of an app names its line`(rest: String, message: String, line: Int) throws {
        let topic = rest.contains("topic:") ? "" : "topic: a.b"
        let text = "apps:\n  demo:\n    \(topic)\n    \(rest)\n"
        let error = try #require(throws: ConfigurationError.self) { try read(text) }
        #expect(error.description.hasSuffix(": " + message), "\(error)")
        #expect(error.source == .file("etc/farm.yaml", line: line), "\(error)")
    }

    @Test(arguments: ["a b", "ä", "a/b", "a{b}", String(repeating: "a", count: 65)])
    func `the name of an app has plain characters only`(name: String) throws {
        let text = "apps: { \"\(name)\": { topic: t, \(Self.key) } }"
        let error = try #require(throws: ConfigurationError.self) { try read(text) }
        #expect(
            error.description.hasSuffix("an app's name must have 1 to 64 characters of A-Z a-z 0-9 _ . -"))
    }

    @Test(arguments: [
        ("PUSHFARM_WORKRS", "PUSHFARM_WORKERS"), ("PUSHFARM_LOGLEVEL", "PUSHFARM_LOG_LEVEL"),
        ("PUSHFARM_APPS_DEMO_TOPIK", "PUSHFARM_APPS_DEMO_TOPIC"),
        ("PUSHFARM_APPS_DEMO_KEYFILE", "PUSHFARM_APPS_DEMO_KEY_FILE"),
    ])
    func `an unknown variable suggests the nearest name`(variable: String, nearest: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try read(sample, [variable: "1"]) }
        #expect(error.description == "environment \(variable): unknown key; did you mean \(nearest)?")
    }

    @Test(arguments: [
        "PUSHFARM_COLOUR", "PUSHFARM_APPS_DEMO_COLOUR", "PUSHFARM_APPS_OTHER_COLOUR", "PUSHFARM_APPS_",
    ])
    func `an unknown variable without a near name suggests none`(variable: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try read(sample, [variable: "1"]) }
        #expect(error.problem == .unknownKey(nearest: nil))
    }

    @Test func `a flag without a near key suggests none`() throws {
        for key in ["colour", "apps.demo.colour"] {
            let error = try #require(throws: ConfigurationError.self) {
                try read("", [:], [try Override(assignment: key + "=x")])
            }
            #expect(error.problem == .unknownKey(nearest: nil))
        }
    }

    @Test func `an error of a flag names the flag`() throws {
        let wrong = try #require(throws: ConfigurationError.self) {
            try read("", [:], [Override(key: "workers", text: "x", flag: "--workers")])
        }
        #expect(
            wrong.description
                == "--workers: workers: expected a whole number from 1 to 256, or auto, found text \"x\"")
        let unknown = try #require(throws: ConfigurationError.self) {
            try read("", [:], [try Override(assignment: "apps.demo.topik=x")])
        }
        #expect(unknown.description == "--set: apps.demo.topik: unknown key; did you mean apps.APP.topic?")
        #expect(throws: ConfigurationError.self) { try Override(assignment: "workers") }
    }

    @Test func `an error of an address hides the password`() throws {
        for text in [
            "redis: redis://u:hush@h:99999", "redis: redis://u:hush@h/x", "redis: 'redis://u:hush%zz@h'",
        ] {
            let error = try #require(throws: ConfigurationError.self) { try read(text) }
            #expect(!error.description.contains("hush"))
        }
        let error = try #require(throws: ConfigurationError.self) {
            try read("redis: redis://u:hush@h\n\tx: [")
        }
        #expect(!error.description.contains("hush"))
    }

    @Test(arguments: ["0.5", "10001", "fast", "", "nan"])
    func `a factor for the durations of campaigns must be a number from 1 to 10000`(text: String) throws {
        let error = try #require(throws: ConfigurationError.self) {
            try read("", ["PUSHFARM_TIME_FACTOR": text])
        }
        #expect(error.description == "environment PUSHFARM_TIME_FACTOR: must be a number from 1 to 10000")
        _ = try read("", ["PUSHFARM_TIME_FACTOR": "60"])
    }

    @Test func `an error names the missing file`() {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration.load(path: "/nowhere/farm.yaml", environment: [:])
        }
        #expect(error?.description == "/nowhere/farm.yaml: no such file or directory")
    }
}
