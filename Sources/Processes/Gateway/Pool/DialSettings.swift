/// How connections are made: how long it may take, and how long it is waited after one that failed.
package struct DialSettings: Hashable, Sendable {
    package var timeout = Duration.seconds(10)
    /// The pause after a first failure; it doubles with each further one, up to the longest.
    package var firstPause = Duration.milliseconds(500)
    package var longestPause = Duration.seconds(10)
    /// The part of a pause that is random, 0...1.
    package var jitter = 0.5

    package init() {}
}
