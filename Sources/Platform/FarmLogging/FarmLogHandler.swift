package import Logging

/// Writes each event as one line with one `write`, so that lines of several processes do not mix.
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

    /// - Parameter level: nil follows ``FarmLog/level``.
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

    /// The event as a line, its line feed included.
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
