package import Logging
import Synchronization

/// Starts this process's logging: swift-log, to standard error.
package enum FarmLog {
    private static let threshold = Atomic<Int>(0)

    /// Of every logger, from now on.
    package static var level: Logger.Level {
        get { Logger.Level.allCases[threshold.load(ordering: .relaxed)] }
        set {
            threshold.store(Logger.Level.allCases.firstIndex(of: newValue) ?? 0, ordering: .relaxed)
        }
    }

    /// Installs ``FarmLogHandler`` for every logger made from now on. Call once, first thing in a process.
    package static func bootstrap(level: Logger.Level, format: LogFormat) {
        self.level = level
        let colours = format == .text && Terminal.allowsColour(on: Terminal.standardError)
        LoggingSystem.bootstrap { label in
            FarmLogHandler(label: label, level: nil, format: format, colours: colours)
        }
    }
}
