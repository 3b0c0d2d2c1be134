import EventLoop

/// Who gives an order, as it is written down beside what it holds back: `user@host`, one word.
@Loop enum OperatorName {
    static var current: String {
        let allowed = OperatorClient.issuer.unicodeScalars.filter { $0.value > 0x20 && $0.value != 0x7F }
        return allowed.isEmpty ? "unknown" : String(String.UnicodeScalarView(allowed.prefix(128)))
    }
}
