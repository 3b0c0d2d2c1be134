package import Logging
import Synchronization

/// Starts this process's logging: swift-log, to ``descriptor``.
package enum FarmLog {
    private static let threshold = Atomic<Int>(0)
    private static let place = Atomic<Int32>(Terminal.standardError)

    /// The descriptor that every logger writes to: standard error by default.
    package static var descriptor: Int32 {
        get { place.load(ordering: .relaxed) }
        set { place.store(newValue, ordering: .relaxed) }
    }

    /// The level of every logger.
    package static var level: Logger.Level {
        get { Logger.Level.allCases[threshold.load(ordering: .relaxed)] }
        set {
            threshold.store(Logger.Level.allCases.firstIndex(of: newValue) ?? 0, ordering: .relaxed)
        }
    }

    /// Installs ``FarmLogHandler`` for every logger made from now on. Call once, first thing in a process.
    package static func bootstrap(level: Logger.Level, format: LogFormat) {
        self.level = level
        let colours = format == .text && Terminal.allowsColour(on: descriptor)
        LoggingSystem.bootstrap { label in
            FarmLogHandler(label: label, level: nil, format: format, colours: colours)
        }
    }
}
