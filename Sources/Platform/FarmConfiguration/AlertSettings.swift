/// When alerts fire, and where they are sent.
package struct AlertSettings: Sendable, Equatable {
    /// Seconds that the oldest push of an app may wait.
    package var backlogAge = 300
    /// Percent of a minute's answers.
    package var errorShare = 5
    /// Percent of Redis's memory.
    package var redisMemory = 70
    /// Of an app in a minute.
    package var refusedJobs = 10
    /// What goes on is told again after so long.
    package var again: Duration = .seconds(3600)
    /// A line for the shell, which finds the alert in its environment.
    package var command: String?
    package var webhook: WebhookAddress?

    package init() {}

    init(_ reader: SettingReader) throws(ConfigurationError) {
        func path(_ key: String) -> SettingPath { SettingPath("alerts", key) }
        if let seconds = try reader.number(path("backlog_age"), in: 1...604_800, unit: 1000) {
            backlogAge = seconds
        }
        if let percent = try reader.number(path("error_share"), in: 1...100) { errorShare = percent }
        if let percent = try reader.number(path("redis_memory"), in: 1...100) { redisMemory = percent }
        if let count = try reader.number(path("refused_jobs"), in: 1...1_000_000_000) { refusedJobs = count }
        if let seconds = try reader.number(path("repeat"), in: 10...604_800, unit: 1000) {
            again = .seconds(seconds)
        }
        command = try reader.text(path("command"))
        webhook = try reader.value(path("webhook")) { text, _ throws(InvalidValue) in
            try WebhookAddress(text)
        }
    }
}
