import Testing

@testable import FarmConfiguration

struct TopicsTests {
    private func topics(_ line: String, _ environment: [String: String] = [:]) throws
        -> AppConfiguration.Topics
    {
        let text = """
            apps:
              demo:
                topic: com.example.demo
                key: { file: k.p8, id: ABC123DEFG, team: DEF123GHIJ }
                \(line)
            """
        return try #require(try read(text, environment).apps.first).topics
    }

    @Test(
        arguments: [
            ("", .these([])), ("topics: any", .any), ("topics: com.a", .these(["com.a"])),
            ("topics: [com.a, com.b]", .these(["com.a", "com.b"])), ("topics: []", .these([])),
            ("topics: com.a, com.b", .these(["com.a", "com.b"])),
            ("topics:\n      - com.a\n      - com.b", .these(["com.a", "com.b"])),
        ] as [(String, AppConfiguration.Topics)])
    func `topics are a list or any`(line: String, topics: AppConfiguration.Topics) throws {
        #expect(try self.topics(line) == topics)
    }

    @Test(arguments: [
        "topics: [any, com.a]", "topics: [com a b!]", "topics: {a: b}", "topics: [[a]]", "topics: ä",
    ])
    func `an invalid topic is an error`(line: String) {
        #expect(throws: ConfigurationError.self) { try topics(line) }
    }

    @Test func `the environment holds the topics as one text`() throws {
        #expect(try topics("", ["PUSHFARM_APPS_DEMO_TOPICS": "com.a com.b"]) == .these(["com.a", "com.b"]))
    }
}
