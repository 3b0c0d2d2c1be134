/// What is going on in a child's place.
package enum ChildState: String {
    case starting, ready
    case backingOff = "backing-off"
    case failed, stopped
}
