import Testing

@testable import FarmConfiguration

struct BackgroundBudgetTests {
    private func budget(_ line: String) throws -> Int {
        let text = """
            apps:
              demo:
                topic: com.example.demo
                key: { file: k.p8, id: ABC123DEFG, team: DEF123GHIJ }
                \(line)
            """
        return try #require(try read(text).apps.first).backgroundBudget.pushes
    }

    @Test(arguments: [
        ("", 0), ("background_budget: off", 0), ("background_budget: 3/h", 3),
        ("background_budget: 15/h", 15),
    ])
    func `a budget is off or a number of pushes an hour`(line: String, pushes: Int) throws {
        #expect(try budget(line) == pushes)
    }

    @Test(arguments: ["0/h", "16/h", "3", "3/d", "-1/h", "x/h", "3 /h"])
    func `an invalid budget is an error`(text: String) {
        #expect(throws: ConfigurationError.self) { try budget("background_budget: \(text)") }
    }
}
