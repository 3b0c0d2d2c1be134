package import Logging

/// Starts this process's logging: swift-log, to standard error.
package enum FarmLog {
    /// Installs ``FarmLogHandler`` for every logger made from now on. Call once, first thing in a process.
    package static func bootstrap(level: Logger.Level, format: LogFormat) {
        let colours = format == .text && Terminal.allowsColour(on: Terminal.standardError)
        LoggingSystem.bootstrap { label in
            FarmLogHandler(label: label, level: level, format: format, colours: colours)
        }
    }
}
