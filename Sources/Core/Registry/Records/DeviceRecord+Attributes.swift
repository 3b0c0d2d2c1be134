extension DeviceRecord {
    /// The value of an attribute, by the name that device inputs and placeholders use, such as `lang`.
    ///
    /// - Returns: nil if the device has no value, or if no attribute with one value has this name.
    package func value(ofAttribute name: String) -> String? {
        switch name {
        case "id": id
        case "user": user
        case "platform": platform
        case "lang": lang
        case "zone": zone
        case "app": app
        case "os": os
        case "model": model
        default: nil
        }
    }
}
