/// The payload of all pushes. The payload has a typical length, and is short enough for the older commands of the binary
/// interface.
enum Payload {
    static let text = #"{"aps":{"alert":"\#(String(repeating: "News of the day. ", count: 7))"}}"#
    static let bytes = Array(text.utf8)
}
