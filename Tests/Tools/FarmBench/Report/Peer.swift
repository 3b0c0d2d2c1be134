/// Another APNs client with one connection, as it was measured elsewhere on a similar machine.
package struct Peer: Sendable {
    package let name: String
    /// Microseconds of processor time for each push.
    package let microseconds: Double

    package static let all = [
        Peer(name: "go-apns", microseconds: 57), Peer(name: "apns2", microseconds: 66),
        Peer(name: "Pushy", microseconds: 77), Peer(name: "APNSwift", microseconds: 218),
        Peer(name: "aioapns", microseconds: 560),
    ]
}
