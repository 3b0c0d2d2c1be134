package import Logging
import Synchronization

/// Sets up this process's logging: swift-log writes to ``descriptor``.
package enum FarmLog {
    private static let threshold = Atomic<Int>(0)
    private static let descriptorNumber = Atomic<Int32>(Terminal.standardError)

    /// The descriptor that all loggers write to; standard error by default.
    package static var descriptor: Int32 {
        get { descriptorNumber.load(ordering: .relaxed) }
        set { descriptorNumber.store(newValue, ordering: .relaxed) }
    }

    /// The log level of all loggers.
    package static var level: Logger.Level {
        get { Logger.Level.allCases[threshold.load(ordering: .relaxed)] }
        set {
            threshold.store(Logger.Level.allCases.firstIndex(of: newValue) ?? 0, ordering: .relaxed)
        }
    }

    /// Installs ``FarmLogHandler`` for all loggers that are created later. Call this function once, at the start of the process.
    package static func bootstrap(level: Logger.Level, format: LogFormat) {
        self.level = level
        let colours = format == .text && Terminal.allowsColour(on: descriptor)
        LoggingSystem.bootstrap { label in
            FarmLogHandler(label: label, level: nil, format: format, colours: colours)
        }
    }
}

/// Writes each event as one line with one `write` call, so that lines of several processes do not mix.
package struct FarmLogHandler: LogHandler {
    package var logLevel: Logger.Level {
        get { own ?? FarmLog.level }
        set { own = newValue }
    }
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private var own: Logger.Level?
    private let label: String
    private let format: LogFormat
    private let colours: Bool

    /// - Parameter level: the logger's own level; nil uses ``FarmLog/level``.
    package init(label: String, level: Logger.Level?, format: LogFormat, colours: Bool) {
        self.label = label
        own = level
        self.format = format
        self.colours = colours
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        Terminal.write(line(for: event, at: .now), to: FarmLog.descriptor)
    }

    /// Formats the event as a line that ends with a line feed.
    package func line(for event: LogEvent, at time: Timestamp) -> String {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let given = event.metadata { all.merge(given) { $1 } }
        if let error = event.error { all["error"] = .stringConvertible("\(error)") }
        let fields = all.sorted { $0.key < $1.key }
        let message = event.message.description
        switch format {
        case .text:
            return TextLine(colours: colours).line(time, event.level, label, message, fields)
        case .json:
            return JSONLine.line(time, event.level, label, message, fields)
        }
    }
}

/// The format of a log line.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Aligned columns for people. Colours appear on a terminal only.
    case text
    /// One JSON object per line, for log collectors.
    case json
}
